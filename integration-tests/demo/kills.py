# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Kills parts of a small real cluster, with slow or full storage at times, while it runs a job that
checks itself.

Processes are killed alone, or the JobManager together with a TaskManager, or after one was
suspended. A killed TaskManager either returns to its directory, with local recovery, or is replaced
by a new one.

The job (org.lavakv.kills.SelfCheckingJob) must finish with every number of every key seen exactly
once, according to its own checks of its state and to its output. The seed determines the kills and
their times, the faults of storage, and the number of subtasks after each kill; it does not
determine the speed of the machine.
"""

import argparse
import os
import random
import re
import sys
import time
import urllib.error

from cluster import SLOTS, Cluster, Failed, run_command
from flink_home import MavenFlink
from kills_plan import Kind, Kinds, configuration
from local_copies import restores_of_left_copies
from output_check import check
from processes import free_ports
from storage_faults import Deck, StorageFaults

JOB_CLASS = "org.lavakv.kills.SelfCheckingJob"
TASK_MANAGERS = 3
KEYS = 3000
NUMBERS_A_SECOND = 6000
STATE_METRIC = re.compile(r"\.lava\.state\.(next|recent|places|sum|fired)\.")
QUICK_NEXT_KILL = 0.25
# Probabilities of a kill during a fault, and shortly after one.
KILL_IN_FAULT = 0.4
KILL_SOON_AFTER_FAULT = 0.2
# Shorter than the time after which other processes consider a process dead.
PAUSE_SECONDS = (0.3, 3.0)
# Flink cannot rescale a job under the changelog twice (docs/testing.md).
CHANGELOG = {
    "state.changelog.enabled": "true",
    "state.changelog.storage": "lava",
    "state.changelog.periodic-materialize.interval": "3s",
    "state.changelog.lava.preemptive-persist-threshold": "64kb",
    "state.changelog.lava.shared-values.min-size": "1b",
    "jobmanager.scheduler": "default",
}
# Many times the duration on an idle machine.
LIMIT_SECONDS = 300
LIMIT_SECONDS_A_KILL = 120
# Number of additional attempts to restore from the local copies of a killed TaskManager.
RETURNS_MORE = 3


class Victims:
    """The cluster, its processes by name, and the job, observed over REST."""

    def __init__(self, options, seed):
        self._random = random.Random(seed)
        self._kinds = Kinds(random.Random(f"kinds of {seed}"))
        self.configuration = configuration(seed)
        local_recovery = str(self.configuration.local_recovery).lower()
        self._options = options
        self.faults = StorageFaults(options.work)
        self._fault_random = random.Random(f"faults of {seed}")
        self._deck = Deck(self._fault_random)
        self._flink = MavenFlink(
            options.class_path, options.work, f"state.backend.type: {options.backend}")
        zookeeper_port, zookeeper_peers, zookeeper_election = free_ports(3)
        self._zookeeper = (zookeeper_port, zookeeper_peers, zookeeper_election)
        self._cluster = Cluster(
            self._flink, options.work, os.path.join(options.work, "logs"), {
                "high-availability.type": "zookeeper",
                "high-availability.zookeeper.quorum": f"localhost:{zookeeper_port}",
                "high-availability.zookeeper.client.session-timeout": "4000ms",
                "high-availability.storageDir": "file://" + os.path.join(options.work, "ha"),
                "zookeeper.sasl.disable": "true",
                "state.backend.lava.value-separation.threshold":
                    f"{self.configuration.threshold}b",
                "state.backend.lava.timer-service.factory":
                    "HEAP" if self.configuration.heap_timers else "LAVA",
                "state.backend.lava.filesystem":
                    "LAVAFS" if self.configuration.lava_fs else "POSIX",
                "state.backend.lava.restore.on-demand":
                    str(self.configuration.on_demand).lower(),
                "jobmanager.scheduler": "adaptive",
                "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout": "1s",
                "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout": "1s",
                "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": "1s",
                "restart-strategy.fixed-delay.attempts": 1000000,
                "restart-strategy.fixed-delay.delay": "200ms",
                # TaskManagers must allow local backups as well.
                "execution.checkpointing.local-backup.enabled": local_recovery,
                "execution.state-recovery.from-local": local_recovery,
                "taskmanager.memory.managed.size": "64m",
                **(CHANGELOG if options.changelog else {}),
            })
        self._of_job = {
            "execution.checkpointing.interval": "500ms",
            "execution.checkpointing.min-pause": "200ms",
            "execution.checkpointing.tolerable-failed-checkpoints": 1000,
            "execution.checkpointing.unaligned.enabled": str(self.configuration.unaligned).lower(),
            "execution.checkpointing.local-backup.enabled": local_recovery,
            "execution.state-recovery.from-local": local_recovery,
        }
        self._task_managers = []
        self._registered = set()
        self._started = 0
        # Names of TaskManagers that returned, with the position in the log at their return.
        self._returned = []
        self._job = None
        self._last_checkpoint = 0
        self.parallelisms = set()
        self.lava_seen = False
        self.restored = set()
        self.kinds = []

    def start(self):
        self._start_zookeeper()
        self._start_job_manager()
        for _ in range(TASK_MANAGERS):
            self._start_task_manager()
        self._cluster.wait_for_slots(TASK_MANAGERS * SLOTS)

    def stop(self):
        self._cluster.stop()

    def check_crashes(self):
        self._cluster.check_crashes()

    def _start_job_manager(self):
        self._cluster.start_job_manager(environment=self._environment("jobmanager"))

    def _start_zookeeper(self):
        data = os.path.join(self._options.work, "zookeeper")
        os.makedirs(data)
        client, peers, election = self._zookeeper
        path = os.path.join(self._options.work, "zoo.cfg")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"tickTime=500\ninitLimit=10\nsyncLimit=5\ndataDir={data}\n"
                    f"clientPort={client}\nclientPortAddress=localhost\nadmin.enableServer=false\n"
                    f"server.1=localhost:{peers}:{election}\n")
        self._cluster.start_other("zookeeper", self._flink.zookeeper(path))

    def _start_task_manager(self, name=None):
        """Starts a new TaskManager, or the one with this name again, which finds its old directory.
        """
        if name is None:
            self._started += 1
            name = f"taskmanager-{self._started}"
        else:
            self._registered.discard(name)
            self._returned.append((name, self._cluster.log_size(name)))
        self._cluster.start_task_manager(
            name, {"taskmanager.resource-id": name}, self._environment(name))
        self._task_managers.append(name)

    def _environment(self, process):
        """The environment of a process whose storage can be made slow or full."""
        work = self._options.work
        return self.faults.environment(process, {
            # Flink's name for a TaskManager's working directory.
            "local": os.path.join(work, "tmp", "tm_" + process),
            "checkpoints": os.path.join(work, "checkpoints"),
        })

    def submit(self, output):
        self._job = self._cluster.submit(
            self._options.job_jar, JOB_CLASS, TASK_MANAGERS * SLOTS, self._of_job,
            ["--output", "file://" + output, "--keys", str(KEYS),
             "--rate", str(NUMBERS_A_SECOND)])

    def _vertices(self):
        job = self._cluster.get(f"/jobs/{self._job}")
        # A suspended job is not in one of these states: a JobManager that temporarily could not
        # reach ZooKeeper leaves the job to the next leader, which may be itself.
        if job["state"] in ("FAILED", "FINISHED", "CANCELED"):
            raise Failed(f"The job ended as {job['state']}: {self._cause()}")
        if job["state"] != "RUNNING" or any(
                v["status"] != "RUNNING" for v in job["vertices"]):
            return None
        return job["vertices"]

    def _cause(self):
        entries = self._cluster.get(f"/jobs/{self._job}/exceptions").get(
            "exceptionHistory", {}).get("entries", [])
        return entries[0]["stacktrace"] if entries else "no cause given"

    def _went_on(self):
        """Whether all subtasks run and two checkpoints were completed since this was last true, and
        since the last kill.
        """
        vertices = self._vertices()
        if vertices is None:
            return False
        checkpoints = self._cluster.get(f"/jobs/{self._job}/checkpoints")
        completed = self._completed(checkpoints)
        if completed < self._last_checkpoint + 2:
            return False
        self._last_checkpoint = completed
        restored = checkpoints["latest"]["restored"]
        if restored:
            self.restored.add(restored["id"])
        checking = self._checking(vertices)
        self.parallelisms.add(checking["parallelism"])
        path = f"/jobs/{self._job}/vertices/{checking['id']}/metrics"
        self.lava_seen = self.lava_seen or any(
            STATE_METRIC.search(metric["id"]) for metric in self._cluster.get(path))
        return True

    @staticmethod
    def _completed(checkpoints):
        return (checkpoints["latest"]["completed"] or {}).get("id", 0)

    def _note_checkpoint(self):
        """Excludes checkpoints completed before a kill, which do not show that the job has
        recovered: the JobManager may notice the loss of a TaskManager late.
        """
        try:
            completed = self._completed(self._cluster.get(f"/jobs/{self._job}/checkpoints"))
            self._last_checkpoint = max(self._last_checkpoint, completed)
        except (urllib.error.URLError, OSError):
            pass  # No JobManager to ask.

    @staticmethod
    def _checking(vertices):
        return next(v for v in vertices if v["name"].startswith("sequence-check"))

    def wait_until_it_went_on(self):
        self._cluster.wait_for(self._went_on, 120, "the job to complete checkpoints")

    def strike_and_kill(self, number):
        """Performs the next fault of storage and the next kill, which may happen during the fault.

        Requests another parallelism afterwards, and prints its actions. Returns whether to perform
        the next one at once.
        """
        kind = self._kinds.next()
        if kind == Kind.RETURNING and not self.configuration.local_recovery:
            kind = Kind.TASK_MANAGER
        fate = self._fault_random.random()
        fault = self._deck.next()
        # A returning TaskManager must find copies.
        within = fate < KILL_IN_FAULT and kind != Kind.RETURNING
        if within:
            with self._on(fault):
                # The kill must strike processes that are handling the fault.
                self.faults.wait_until_met(fault)
                names, pause = self._kill(kind)
        else:
            self.strike(fault)
            if kind == Kind.RETURNING:
                self._run_everywhere()
            elif fate > KILL_IN_FAULT + KILL_SOON_AFTER_FAULT:
                self.wait_until_it_went_on()
            names, pause = self._kill(kind)
        if kind == Kind.RETURNING:
            # Only the same key groups are restored from a copy, so the parallelism changes later.
            self.wait_until_it_went_on()
        parallelism = self._random.randint(1, TASK_MANAGERS * SLOTS)
        wished = self._wish(parallelism)
        print(f"  kill {number:>2}: {names}{' in the fault' if within else ''}, after checkpoint"
              f" {self._last_checkpoint};"
              f" {pause:.1f} s without it; parallelism"
              f" {parallelism if wished else 'as it was'}", flush=True)
        return self._random.random() < QUICK_NEXT_KILL

    def _run_everywhere(self):
        """Waits until the job runs on all TaskManagers, so that it cannot run on fewer."""
        slots = TASK_MANAGERS * SLOTS
        if not self._options.changelog:
            self._cluster.wait_for(lambda: self._wish(slots, slots), 60, "a JobManager")

        def everywhere():
            return self._went_on() and len(self._busy()) == TASK_MANAGERS

        self._cluster.wait_for(everywhere, 120, "the job to run on all TaskManagers")

    def _kill(self, kind):
        """Kills and restarts; returns the processes, and the pause between."""
        time.sleep(self._random.uniform(0, 1.5))
        pause = self._random.uniform(0, 2)
        chosen = self._random.random()
        stopped = self._random.uniform(*PAUSE_SECONDS)
        busy = self._busy() or self._task_managers
        name = busy[int(chosen * len(busy))]
        killed = {Kind.JOB_MANAGER: ["jobmanager"],
                  Kind.BOTH: ["jobmanager", name]}.get(kind, [name])
        said = " and ".join(killed)
        self._note_checkpoint()
        if kind == Kind.AFTER_PAUSE:
            others = [other for other in ["jobmanager", *self._task_managers] if other != name]
            still = others[int(chosen * 1000) % len(others)]
            with self._cluster.paused(still):
                time.sleep(stopped)
                self._cluster.kill(name)
            said += f" while {still} stood still ({stopped:.1f} s)"
        else:
            for each in killed:
                self._cluster.kill(each)
        time.sleep(pause)
        if "jobmanager" in killed:
            self._start_job_manager()
        if name in killed:
            self._task_managers.remove(name)
            self._start_task_manager(name if kind == Kind.RETURNING else None)
        self.kinds.append(kind)
        return said + (" (comes back)" if kind == Kind.RETURNING else ""), pause

    def restores_of_left_copies(self):
        """Restores from local copies by TaskManagers that returned."""
        restores = 0
        for i, (name, begin) in enumerate(self._returned):
            later = [place for other, place in self._returned[i + 1:] if other == name]
            restores += restores_of_left_copies(
                self._cluster.log_between(name, begin, later[0] if later else None))
        return restores

    def return_to_copies(self):
        """Kills and restarts a TaskManager until one has restored from its copies: a kill may come
        before both of its tasks wrote those of the last checkpoint, or during a fault.
        """
        # Under the changelog no task restores from them (docs/changelog.md).
        if Kind.RETURNING not in self.kinds or self._options.changelog:
            return
        for _ in range(RETURNS_MORE):
            if self.restores_of_left_copies() > 0:
                return
            self._run_everywhere()
            names, _ = self._kill(Kind.RETURNING)
            self.wait_until_it_went_on()
            print(f"  one more kill: {names}", flush=True)
        if self.restores_of_left_copies() == 0:
            raise Failed("No TaskManager that came back restored state from copies it had left")

    def strike(self, fault):
        with self._on(fault):
            time.sleep(fault.seconds)
            self.faults.wait_until_met(fault)

    def strike_with_all(self):
        """Repeats each kind of fault that has not struck yet."""
        for kind in self.faults.missing():
            self.strike(self._deck.fault(kind, "local"))
            self.wait_until_it_went_on()
        if self.faults.missing():
            raise Failed(f"No call ever met storage that is {self.faults.missing()}")

    def _on(self, fault):
        chosen = self._fault_random.random()
        self._cluster.wait_for(self._up, 60, "a TaskManager")
        names = self._up()
        if not fault.everywhere:
            names = [name for name in self._busy() if name in names] or names
            names = names[int(chosen * len(names)):][:1]
        elif fault.target == "checkpoints":
            names.append("jobmanager")
        return self.faults.on(fault, names)

    def _up(self):
        """TaskManagers that have finished their start: Flink gives up a start with a full disk."""
        try:
            self._registered.update(
                each["id"] for each in self._cluster.get("/taskmanagers")["taskmanagers"])
        except (urllib.error.URLError, OSError):
            pass  # No JobManager to ask.
        return [name for name in self._task_managers if name in self._registered]

    def _busy(self):
        """TaskManagers that currently run a part of the job."""
        try:
            vertices = self._vertices()
            if vertices is None:
                return []
            details = self._cluster.get(
                f"/jobs/{self._job}/vertices/{self._checking(vertices)['id']}")
            ids = {task["taskmanager-id"] for task in details["subtasks"]}
            return [name for name in self._task_managers if name in ids]
        except (urllib.error.URLError, OSError, KeyError):
            return []

    def _wish(self, parallelism, at_least=1):
        try:
            path = f"/jobs/{self._job}/resource-requirements"
            wishes = {}
            for vertex in self._cluster.get(f"/jobs/{self._job}")["vertices"]:
                upper = 1 if vertex["name"].startswith("Source") else parallelism
                wishes[vertex["id"]] = {
                    "parallelism": {"lowerBound": min(upper, at_least), "upperBound": upper}}
            self._cluster.send("PUT", path, wishes)
            return True
        except (urllib.error.URLError, OSError):
            return False  # No JobManager to ask, or it is still at recovering the job.

    def drain(self):
        """Stops the job with a savepoint, which fires all its timers and completes its output."""
        target = "file://" + os.path.join(self._options.work, "savepoint")
        request = self._cluster.send(
            "POST", f"/jobs/{self._job}/stop", {"drain": True, "targetDirectory": target})
        path = f"/jobs/{self._job}/savepoints/{request['request-id']}"
        self._cluster.wait_for(
            lambda: self._cluster.get(path)["status"]["id"] == "COMPLETED", 120, "the savepoint")
        outcome = self._cluster.get(path)["operation"]
        if "failure-cause" in outcome:
            raise Failed(f"The savepoint failed: {outcome['failure-cause']['stack-trace']}")
        self._cluster.wait_for(
            lambda: self._cluster.get(f"/jobs/{self._job}")["state"] == "FINISHED", 60,
            "the job to finish")


def run(options):
    victims = Victims(options, options.seed)
    print(f"Seed {options.seed}: {options.kills} kills; {victims.configuration}", flush=True)
    output = os.path.join(options.work, "output")
    try:
        victims.start()
        victims.submit(output)
        quick = False
        for number in range(1, options.kills + 1):
            if not quick:
                victims.wait_until_it_went_on()
            # Sometimes the next kill comes while the job is still recovering.
            quick = victims.strike_and_kill(number) and not quick
        victims.wait_until_it_went_on()
        victims.strike_with_all()
        victims.return_to_copies()
        victims.drain()
    finally:
        victims.stop()
    victims.check_crashes()
    if not victims.lava_seen:
        raise Failed("The job's state was not in Lava: none of its metrics were there")
    if not options.changelog and len(victims.parallelisms) < 2:
        raise Failed(f"The parallelism never changed; it was {victims.parallelisms}")
    if not victims.restored:
        raise Failed("The job was never restored from a checkpoint")
    total = check(output, KEYS)
    print("\n".join(victims.faults.summary()))
    print("\n".join(closing_counts({
        "kills": options.kills,
        "kills of two processes at once": victims.kinds.count(Kind.BOTH),
        "kills while another process stood still": victims.kinds.count(Kind.AFTER_PAUSE),
        "different checkpoints restored": len(victims.restored),
        "restores from local copies that a killed process had left":
            victims.restores_of_left_copies(),
        "storage faults struck": victims.faults.struck_count(),
        "records checked exactly once": total})))
    print(f"{options.kills} kills, {len(victims.restored)} different checkpoints restored,"
          f" parallelism {sorted(victims.parallelisms)}; {total:,} numbers of {KEYS:,} keys,"
          f" none lost, none repeated")


def closing_counts(counts):
    """Lines that bin/test collects."""
    return [f"COUNT {n} {what}" for what, n in counts.items()]


def main():
    parser = argparse.ArgumentParser(prog="kills.py")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--backend", default="lava")
    parser.add_argument("--changelog", action="store_true",
                        help="under Flink's changelog, in Lava's storage; the parallelism stays")
    parser.add_argument("--class-path", required=True)
    parser.add_argument("--job-jar", required=True)
    parser.add_argument("--keep", required=True, help="for the logs of a run that failed")
    parser.add_argument("--keep-logs", action="store_true", help="also when all went well")
    options = parser.parse_args()
    return run_command(run, options, "lava-kills-",
                       f"To repeat it: --seed {options.seed} --kills {options.kills}"
                       f"{' --changelog' if options.changelog else ''}. ",
                       LIMIT_SECONDS + options.kills * LIMIT_SECONDS_A_KILL)


if __name__ == "__main__":
    sys.exit(main())
