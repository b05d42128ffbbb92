package org.lavakv.flink.it;

import org.apache.flink.test.checkpointing.SavepointFormatITCase;
import org.junit.platform.suite.api.SelectClasses;
import org.junit.platform.suite.api.Suite;

/** Flink's own savepoint tests, both formats, moved and not, on Lava. */
@Suite
@SelectClasses({
    SavepointFormatITCase.class,
})
public class FlinkSavepointITCase extends ShadowedBackend {}
