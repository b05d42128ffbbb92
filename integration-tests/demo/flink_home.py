# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""The source of Flink: Maven's class path, or a real distribution."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

FLINK_VERSION = "2.3.0"
JOB_MANAGER = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
TASK_MANAGER = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
ZOOKEEPER = "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer"
CLIENT = "org.apache.flink.client.cli.CliFrontend"

# JVM options of Flink's own scripts for Java 17.
OPENS = [
    "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
    "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
] + [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        "java.lang", "java.lang.reflect", "java.net", "java.io", "java.nio", "sun.nio.ch",
        "java.text", "java.time", "java.util", "java.util.concurrent",
        "java.util.concurrent.atomic", "java.util.concurrent.locks",
    )
]

LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %-60c{60} %x - %m%n
# Which copy of its state a task restores, and when it has local ones (local_copies.py).
logger.restorer.name = org.apache.flink.streaming.api.operators.BackendRestorerProcedure
logger.restorer.level = DEBUG
logger.local.name = org.apache.flink.runtime.state.TaskLocalStateStoreImpl
logger.local.level = DEBUG
"""


def dynamic(options):
    return [word for key, value in options.items() for word in ("-D", f"{key}={value}")]


class MavenFlink:
    """Flink's entry points on the class path that Maven resolved; the plugin's jar is on it."""

    name = "Flink %s from Maven's class path" % FLINK_VERSION

    # Passed both to the JVM, and to Flink as options that must agree with it.
    MEMORY = {
        "taskmanager.cpu.cores": "2",
        "taskmanager.memory.framework.heap.size": "128m",
        "taskmanager.memory.task.heap.size": "384m",
        "taskmanager.memory.framework.off-heap.size": "128m",
        "taskmanager.memory.task.off-heap.size": "0",
        "taskmanager.memory.network.min": "64m",
        "taskmanager.memory.network.max": "64m",
        "taskmanager.memory.managed.size": "256m",
        "taskmanager.memory.jvm-metaspace.size": "256m",
        "taskmanager.memory.jvm-overhead.min": "192m",
        "taskmanager.memory.jvm-overhead.max": "192m",
    }

    # For short-lived JVMs: spends no time on optimizing code.
    BRIEF = ["-XX:TieredStopAtLevel=1"]

    def __init__(self, class_path_file, work, configuration_line):
        with open(class_path_file, encoding="utf-8") as f:
            self._class_path = f.read().strip()
        self._conf = os.path.join(work, "conf")
        os.makedirs(self._conf)
        with open(os.path.join(self._conf, "config.yaml"), "w", encoding="utf-8") as f:
            f.write(configuration_line + "\n")
        with open(os.path.join(self._conf, "log4j.properties"), "w", encoding="utf-8") as f:
            f.write(LOG4J)
        self.environment = dict(os.environ, FLINK_CONF_DIR=self._conf)

    def _java(self, memory, main):
        log4j = os.path.join(self._conf, "log4j.properties")
        return (["java", "-XX:+UseG1GC", *memory, *OPENS, f"-Dlog4j2.configurationFile={log4j}"]
                + ["-cp", self._class_path, main])

    def job_manager(self, options):
        return (self._java(["-Xmx512m", *self.BRIEF], JOB_MANAGER) + ["--configDir", self._conf]
                + dynamic(options))

    def task_manager(self, options):
        return (self._java(["-Xms512m", "-Xmx512m", "-XX:MaxDirectMemorySize=192m",
                            "-XX:MaxMetaspaceSize=256m"], TASK_MANAGER)
                + ["--configDir", self._conf] + dynamic({**self.MEMORY, **options}))

    def zookeeper(self, configuration):
        return (self._java(["-Xmx128m", *self.BRIEF], ZOOKEEPER)
                + ["--zkConfigFile", configuration, "--peerId", "1"])

    def client(self):
        return self._java(["-Xmx512m", *self.BRIEF], CLIENT)


class DistributionFlink:
    """A real distribution, with the plugin's jar in lib/ and one additional line in its
    config.yaml.
    """

    name = "the Flink %s distribution" % FLINK_VERSION

    def __init__(self, plugin_jar, work, configuration_line):
        home = os.path.join(work, "flink")
        # Links instead of copies: the originals stay unchanged, and modified files are replaced.
        shutil.copytree(assembled(), home, copy_function=_link)
        shutil.copy(plugin_jar, os.path.join(home, "lib"))
        config = os.path.join(home, "conf", "config.yaml")
        with open(config, encoding="utf-8") as f:
            text = f.read()
        os.remove(config)
        with open(config, "w", encoding="utf-8") as f:
            f.write(text.rstrip("\n") + "\n" + configuration_line + "\n")
        self._bin = os.path.join(home, "bin")
        self.environment = dict(
            os.environ,
            FLINK_HOME=home,
            FLINK_CONF_DIR=os.path.join(home, "conf"),
            FLINK_LOG_DIR=os.path.join(work, "logs"),
            FLINK_PID_DIR=os.path.join(work, "pids"),
        )

    def job_manager(self, options):
        return [os.path.join(self._bin, "jobmanager.sh"), "start-foreground"] + dynamic(options)

    def task_manager(self, options):
        return [os.path.join(self._bin, "taskmanager.sh"), "start-foreground"] + dynamic(options)

    def client(self):
        return [os.path.join(self._bin, "flink")]


def _link(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def assembled():
    """A FLINK_HOME made from Flink's two wheels on PyPI; created once and then kept."""
    cache = os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lava")
    home = os.path.join(cache, "flink-" + FLINK_VERSION)
    if os.path.isdir(home):
        return home
    os.makedirs(cache, exist_ok=True)
    print(f"Downloading Flink {FLINK_VERSION} from PyPI (330 MB, once, into {cache})", flush=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        for package in ("apache-flink-libraries", "apache-flink"):
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                 "--only-binary", ":all:", "--python-version", "3.11",
                 "--platform", "manylinux2014_x86_64", "--dest", work,
                 f"{package}=={FLINK_VERSION}"],
                check=True)
        for wheel in glob.glob(os.path.join(work, "*.whl")):
            with zipfile.ZipFile(wheel) as z:
                wanted = [n for n in z.namelist()
                          if n.startswith(("pyflink/lib/", "pyflink/bin/", "pyflink/conf/"))]
                z.extractall(work, wanted)
        made = os.path.join(work, "pyflink")
        for directory, mode in (("bin", 0o755), ("conf", 0o644), ("lib", 0o644)):
            for file in glob.glob(os.path.join(made, directory, "*")):
                os.chmod(file, mode)
        os.makedirs(os.path.join(made, "plugins"), exist_ok=True)
        os.rename(made, home)
    return home
