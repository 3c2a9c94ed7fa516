package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.ByteBuffer;
import jnr.ffi.Pointer;
import jnr.ffi.provider.jffi.ClosureHelper;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.jnr.CallbackTable.Slot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import ru.serce.jnrfuse.FuseFillDir;

/**
 * Callbacks on open directories. An open directory's handle is its inode, retained. A listing is given out in pieces, each
 * entry with the cookie behind it, so that libfuse never holds more than the kernel asked for.
 */
final class DirectoryCalls {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryCalls.class);

    /** Longer than any name; with the terminator. */
    private static final int NAME_BUFFER_BYTES = 1025;

    private final FuseOperations operations;
    private final PathResolver resolver;
    private final ThreadLocal<StatBuffer> stat;
    private final ThreadLocal<ByteBuffer> nameBuffers =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(NAME_BUFFER_BYTES));

    DirectoryCalls(Serving serving) {
        operations = serving.operations();
        resolver = serving.resolver();
        stat = serving.stat();
    }

    void register(CallbackTable table) {
        table.set(Slot.OPENDIR, Callbacks.OnPathWithStructure.class, this::open);
        table.set(Slot.READDIR, Callbacks.ReadDirectory.class, this::read);
        table.set(Slot.RELEASEDIR, Callbacks.OnHandle.class, this::release);
        table.set(Slot.FSYNCDIR, Callbacks.Sync.class, this::sync);
    }

    private int open(Pointer path, Pointer info) {
        return Guard.run("opendir", () -> {
            FileInfo.setHandle(info, resolver.retain(CString.bytes(path)));
            return 0;
        });
    }

    private int read(long path, Pointer buffer, Pointer filler, long cookie, Pointer info) {
        return Guard.run("readdir", () -> {
            new Listing(buffer, filler).from(FileInfo.handle(info), cookie);
            return 0;
        });
    }

    /** A piece of a listing on its way into libfuse's buffer. */
    private final class Listing {
        private final Pointer target;
        private final FuseFillDir filler;
        private final StatBuffer entryStat = stat.get();
        private final ByteBuffer nameBuffer = nameBuffers.get();
        private boolean any;

        Listing(Pointer target, Pointer filler) {
            ClosureHelper closures = ClosureHelper.getInstance();
            this.target = target;
            this.filler =
                    closures.getNativeConveter(FuseFillDir.class).fromNative(filler, closures.getFromNativeContext());
        }

        void from(long directory, long cookie) throws IOException {
            try {
                operations.list(
                        directory,
                        cookie,
                        false,
                        (name, inode, type, next, attributes) -> add(name, inode, type, next));
            } catch (IOException | RuntimeException e) {
                if (!any) {
                    throw e;
                }
                // The entries before it are good. The kernel comes back behind them and meets the failure then.
                LOG.debug("a listing ends early", e);
            }
        }

        private boolean add(byte[] name, long inode, int type, long next) {
            nameBuffer.clear();
            nameBuffer.put(name).put((byte) 0).flip();
            boolean taken = filler.apply(target, nameBuffer, entryStat.entry(inode, type), next) == 0;
            any |= taken;
            return taken;
        }
    }

    private int release(long path, Pointer info) {
        return Guard.run("releasedir", () -> {
            resolver.release(FileInfo.handle(info));
            return 0;
        });
    }

    private int sync(long path, int dataOnly, Pointer info) {
        return Guard.run("fsyncdir", () -> {
            operations.syncAll();
            return 0;
        });
    }
}
