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
 * Callbacks for open directories. The handle of an open directory is its inode, which is retained. A listing is
 * returned in pieces. Each entry has a cookie that continues the listing after it, so that libfuse never holds more
 * entries than the kernel requested.
 */
final class DirectoryCalls {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryCalls.class);

    /** Size of the name buffer in bytes: longer than any name with its terminator. */
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
        return Guard.run("opendir", path, () -> {
            FileInfo.setHandle(info, resolver.retain(CString.bytes(path)));
            return 0;
        });
    }

    private int read(long path, Pointer buffer, Pointer filler, long cookie, Pointer info) {
        return Guard.run("readdir", () -> operations.nameOf(FileInfo.handle(info)), () -> {
            new Listing(buffer, filler).from(FileInfo.handle(info), cookie);
            return 0;
        });
    }

    /** A piece of a listing that is being written to libfuse's buffer. */
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
                operations.noteListed(directory);
            } catch (IOException | RuntimeException e) {
                if (!any) {
                    throw e;
                }
                // The entries before the failure are valid. The kernel continues after them and gets the failure then.
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
        return Guard.run("releasedir", () -> operations.nameOf(FileInfo.handle(info)), () -> {
            resolver.release(FileInfo.handle(info));
            return 0;
        });
    }

    private int sync(long path, int dataOnly, Pointer info) {
        return Guard.run("fsyncdir", () -> operations.nameOf(FileInfo.handle(info)), () -> {
            operations.syncAll();
            return 0;
        });
    }
}
