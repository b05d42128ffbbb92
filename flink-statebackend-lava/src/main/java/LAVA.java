import org.lavakv.flink.LavaStateBackendFactory;

/** Makes {@code state.backend.type: LAVA} work, since Flink takes other backends in any case. */
public class LAVA extends LavaStateBackendFactory {}
