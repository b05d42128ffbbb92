import org.lavakv.flink.LavaStateBackendFactory;

/** Makes {@code state.backend.type: Lava} work, since Flink takes other backends in any case. */
public class Lava extends LavaStateBackendFactory {}
