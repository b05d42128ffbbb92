// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.gateway.api.operation.OperationHandle;
import org.apache.flink.table.gateway.api.results.ResultSet;
import org.apache.flink.table.gateway.api.session.SessionEnvironment;
import org.apache.flink.table.gateway.api.session.SessionHandle;
import org.apache.flink.table.gateway.rest.util.SqlGatewayRestAPIVersion;
import org.apache.flink.table.gateway.service.SqlGatewayServiceImpl;
import org.apache.flink.table.gateway.service.context.DefaultContext;
import org.apache.flink.table.gateway.service.session.SessionManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SQL as users send it: statements to Flink's SQL gateway, which runs the queries on a session
 * cluster that is not configured for Lava.
 */
class SqlITCase {

    private static final int ROWS = 3_000;
    private static final int GROUPS = 30;

    @TempDir static Path directory;
    private static SessionCluster cluster;
    private static SessionManager sessions;
    private static SqlGatewayServiceImpl gateway;
    private SessionHandle session;

    @BeforeAll
    static void start() throws Exception {
        cluster = new SessionCluster(directory, new Configuration());
        sessions = SessionManager.create(new DefaultContext(cluster.client(), List.of()));
        sessions.start();
        gateway = new SqlGatewayServiceImpl(sessions);
    }

    @AfterAll
    static void stop() throws Exception {
        sessions.stop();
        cluster.close();
    }

    @BeforeEach
    void open() throws Exception {
        session =
                gateway.openSession(
                        SessionEnvironment.newBuilder()
                                .setSessionEndpointVersion(
                                        SqlGatewayRestAPIVersion.getDefaultVersion())
                                .build());
        run("SET 'execution.runtime-mode' = 'streaming'");
        run("SET 'parallelism.default' = '2'");
        run(
                "CREATE TEMPORARY TABLE numbers (id BIGINT) WITH ('connector' = 'datagen',"
                        + " 'fields.id.kind' = 'sequence', 'fields.id.start' = '1',"
                        + " 'fields.id.end' = '"
                        + ROWS
                        + "')");
    }

    @AfterEach
    void close() throws Exception {
        gateway.closeSession(session);
        assertThat(cluster.leftovers()).isEmpty();
    }

    @Test
    void withoutSetTheGroupsAreOnTheHeap() throws Exception {
        assertThat(lavaMetricsOfGroupBy()).isEmpty();
    }

    @Test
    void setPutsTheGroupsIntoLava() throws Exception {
        run("SET 'state.backend.type' = 'lava'");
        assertThat(lavaMetricsOfGroupBy()).contains("lava", "lava.state.accState");
    }

    @Test
    void setOfTheOlderKeyPutsTheGroupsIntoLava() throws Exception {
        run("SET 'state.backend' = 'lava'");
        assertThat(lavaMetricsOfGroupBy()).contains("lava", "lava.state.accState");
    }

    @Test
    void setOfTheFactoryPutsTheGroupsIntoLava() throws Exception {
        run("SET 'state.backend.type' = 'org.lavakv.flink.LavaStateBackendFactory'");
        assertThat(lavaMetricsOfGroupBy()).contains("lava", "lava.state.accState");
    }

    @Test
    void resetTakesThemOutAgain() throws Exception {
        run("SET 'state.backend.type' = 'lava'");
        run("RESET 'state.backend.type'");
        assertThat(lavaMetricsOfGroupBy()).isEmpty();
    }

    @Test
    void joinKeepsBothSidesInLava() throws Exception {
        run("SET 'state.backend.type' = 'lava'");
        List<String> rows = new ArrayList<>();
        JobID job =
                query(
                        "SELECT a.id, b.id FROM numbers a JOIN numbers b ON a.id = b.id * 3",
                        rows,
                        row -> row.getLong(0) + " " + row.getLong(1));
        List<String> expected = new ArrayList<>();
        for (long id = 1; id * 3 <= ROWS; id++) {
            expected.add("+I " + id * 3 + " " + id);
        }
        assertThat(rows).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(cluster.lavaMetrics(job))
                .contains("lava", "lava.state.left-records", "lava.state.right-records");
    }

    /** Asynchronous state as SQL requests it. */
    @Test
    void asynchronousGroupsAreInLavaToo() throws Exception {
        run("SET 'state.backend.type' = 'lava'");
        run("SET 'table.exec.async-state.enabled' = 'true'");
        assertThat(lavaMetricsOfGroupBy()).contains("lava", "lava.state.accState");
    }

    private Set<String> lavaMetricsOfGroupBy() throws Exception {
        List<String> rows = new ArrayList<>();
        JobID job =
                query(
                        "SELECT MOD(id, "
                                + GROUPS
                                + "), COUNT(*), SUM(id), MAX(id) FROM numbers GROUP BY MOD(id, "
                                + GROUPS
                                + ")",
                        rows,
                        row ->
                                row.getLong(0)
                                        + " "
                                        + row.getLong(1)
                                        + " "
                                        + row.getLong(2)
                                        + " "
                                        + row.getLong(3));
        // Each row of a group retracts the previous one; the remaining rows are the result.
        Map<String, Integer> table = new TreeMap<>();
        for (String row : rows) {
            int change = row.startsWith("+") ? 1 : -1;
            table.merge(row.substring(3), change, Integer::sum);
        }
        table.values().removeIf(count -> count == 0);
        assertThat(table.values()).as("table %s", table).containsOnly(1);
        Set<String> expected = new TreeSet<>();
        for (long group = 0; group < GROUPS; group++) {
            long count = 0;
            long sum = 0;
            long max = 0;
            for (long id = group == 0 ? GROUPS : group; id <= ROWS; id += GROUPS) {
                count++;
                sum += id;
                max = id;
            }
            expected.add(group + " " + count + " " + sum + " " + max);
        }
        assertThat(table.keySet()).isEqualTo(expected);
        // A single row for each group would not have needed the state.
        assertThat(rows).hasSizeGreaterThan(2 * GROUPS);
        return cluster.lavaMetrics(job);
    }

    private void run(String statement) throws Exception {
        query(statement, new ArrayList<>(), row -> "");
    }

    private interface Line {
        String of(RowData row);
    }

    /** Runs a statement to its end; adds its rows, each after its kind of change. */
    private JobID query(String statement, List<String> rows, Line line) throws Exception {
        OperationHandle operation =
                gateway.executeStatement(session, statement, -1, new Configuration());
        gateway.getSession(session).getOperationManager().awaitOperationTermination(operation);
        JobID job = null;
        Long token = 0L;
        while (token != null) {
            ResultSet part = gateway.fetchResults(session, operation, token, 1000);
            if (part.getResultType() != ResultSet.ResultType.NOT_READY) {
                job = part.getJobID();
                for (RowData row : part.getData()) {
                    rows.add(row.getRowKind().shortString() + " " + line.of(row));
                }
            }
            token = part.getNextToken();
        }
        gateway.closeOperation(session, operation);
        return job;
    }
}
