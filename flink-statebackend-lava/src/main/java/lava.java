import org.lavakv.flink.LavaStateBackendFactory;

/**
 * Makes {@code state.backend.type: lava} work on an unmodified Flink, which takes the name of a
 * backend that it does not know for the name of a factory class.
 */
public class lava extends LavaStateBackendFactory {}
