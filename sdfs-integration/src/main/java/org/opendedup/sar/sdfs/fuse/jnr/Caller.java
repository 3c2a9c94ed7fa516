package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.ByteBuffer;
import org.opendedup.sar.volume.Owner;
import ru.serce.jnrfuse.struct.FuseContext;

/** Who asks, and for what: of the request that the calling thread serves. */
final class Caller {
    private static final RequestView NO_REQUEST = new RequestView(ByteBuffer.allocate(0));

    private final LibFuse2 libFuse;
    private final ThreadLocal<RequestView> requests = ThreadLocal.withInitial(() -> NO_REQUEST);

    Caller(LibFuse2 libFuse) {
        this.libFuse = libFuse;
    }

    /** The calling thread's requests can be seen there from now on. */
    void serves(RequestView view) {
        requests.set(view);
    }

    RequestView request() {
        return requests.get();
    }

    Owner owner() {
        FuseContext context = libFuse.functions().fuse_get_context();
        return new Owner(context.uid.intValue(), context.gid.intValue());
    }
}
