package org.opendedup.sar.sdfs.fuse.jnr;

import java.nio.ByteBuffer;
import org.opendedup.sar.volume.posix.Owner;
import ru.serce.jnrfuse.struct.FuseContext;

/** The caller and the request that the current thread serves. */
final class Caller {
    private static final RequestView NO_REQUEST = new RequestView(ByteBuffer.allocate(0));

    private final LibFuse2 libFuse;
    private final ThreadLocal<RequestView> requests = ThreadLocal.withInitial(() -> NO_REQUEST);

    Caller(LibFuse2 libFuse) {
        this.libFuse = libFuse;
    }

    /** Sets the view of the current thread's requests. */
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
