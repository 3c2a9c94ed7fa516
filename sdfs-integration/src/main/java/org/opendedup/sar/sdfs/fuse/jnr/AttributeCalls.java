package org.opendedup.sar.sdfs.fuse.jnr;

import com.google.common.math.LongMath;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import jnr.ffi.Pointer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.io.KernelClock;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.Errno;
import org.opendedup.sar.sdfs.fuse.ExtendedAttributeName;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.jnr.CallbackTable.Slot;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.SetMode;
import ru.serce.jnrfuse.struct.Statvfs;

/**
 * Callbacks for attributes and extended attributes, by path. The kernel itself removes setuid bits here: to a daemon
 * that does not offer to remove them, it sends the new mode before a write, a truncation or a change of owner.
 */
final class AttributeCalls {
    private static final int BLOCK_BYTES = 4096;
    private static final int MAX_NAME_BYTES = 255;

    /** {@code linux/xattr.h}. */
    private static final int XATTR_CREATE = 1;

    private static final int XATTR_REPLACE = 2;
    private static final int MAX_XATTR_BYTES = 64 << 10;

    /** {@code linux/stat.h}: special values of the nanoseconds of a time. */
    private static final long UTIME_NOW = (1 << 30) - 1;

    private static final long UTIME_OMIT = (1 << 30) - 2;
    private static final int TIMESPEC_BYTES = 16;

    private final FuseOperations operations;
    private final PathResolver resolver;
    private final AccessLists accessLists;
    private final Caller caller;
    private final ThreadLocal<StatBuffer> stat;

    AttributeCalls(Serving serving) {
        operations = serving.operations();
        resolver = serving.resolver();
        accessLists = serving.accessLists();
        caller = serving.caller();
        stat = serving.stat();
    }

    void register(CallbackTable table) {
        table.set(Slot.GETATTR, Callbacks.OnPathWithStructure.class, this::attributes);
        table.set(Slot.CHMOD, Callbacks.OnPathWithMode.class, this::changeMode);
        table.set(Slot.CHOWN, Callbacks.ChangeOwner.class, this::changeOwner);
        table.set(Slot.TRUNCATE, Callbacks.Truncate.class, this::truncate);
        table.set(Slot.UTIMENS, Callbacks.OnPathWithStructure.class, this::changeTimes);
        table.set(Slot.STATFS, Callbacks.OnPathWithStructure.class, this::space);
        table.set(Slot.SETXATTR, Callbacks.SetExtendedAttribute.class, this::setExtendedAttribute);
        table.set(Slot.GETXATTR, Callbacks.GetExtendedAttribute.class, this::getExtendedAttribute);
        table.set(Slot.LISTXATTR, Callbacks.FillBuffer.class, this::listExtendedAttributes);
        table.set(Slot.REMOVEXATTR, Callbacks.OnTwoPaths.class, this::removeExtendedAttribute);
    }

    private int attributes(Pointer path, Pointer target) {
        return Guard.run("getattr", path, () -> {
            stat.get().copy(accessLists.shown(resolver.attributes(CString.bytes(path))), target);
            return 0;
        });
    }

    private int change(String operation, Pointer path, AttributeChange change) {
        return Guard.run(operation, path, () -> {
            resolver.onInode(CString.bytes(path), inode -> operations.change(inode, change));
            return 0;
        });
    }

    private int changeMode(Pointer path, long mode) {
        int asked = (int) mode & FileMode.PERMISSIONS;
        return Guard.run("chmod", path, () -> {
            resolver.onInode(
                    CString.bytes(path),
                    inode -> operations.change(inode, AttributeChange.ofMode(accessLists.toSet(inode, asked))));
            return 0;
        });
    }

    /** Changes owner and group. A value of -1 leaves the owner or group unchanged. */
    private int changeOwner(Pointer path, int uid, int gid) {
        return change(
                "chown",
                path,
                new AttributeChange(
                        null,
                        uid == -1 ? null : (Integer) uid,
                        gid == -1 ? null : (Integer) gid,
                        null,
                        null,
                        null,
                        null));
    }

    private int truncate(Pointer path, long size) {
        return change(
                "truncate",
                path,
                AttributeChange.ofTruncation(size, KernelClock.machine().instant()));
    }

    /** @param times two of {@code struct timespec}: the access time and the modification time */
    private int changeTimes(Pointer path, Pointer times) {
        return change(
                "utimens",
                path,
                new AttributeChange(null, null, null, null, time(times, 0), time(times, TIMESPEC_BYTES), null));
    }

    /**
     * Returns nanoseconds since 1970, or null to leave the time unchanged. A time that does not fit in 64 bits becomes
     * the nearest value that fits.
     */
    private static @Nullable Long time(Pointer times, int offset) {
        long seconds = times.getLong(offset);
        long nanos = times.getLong(offset + 8);
        if (nanos == UTIME_OMIT) {
            return null;
        }
        if (nanos == UTIME_NOW) {
            Instant now = KernelClock.machine().instant();
            seconds = now.getEpochSecond();
            nanos = now.getNano();
        }
        return LongMath.saturatedAdd(TimeUnit.SECONDS.toNanos(seconds), nanos);
    }

    private int space(Pointer path, Pointer target) {
        return Guard.run("statfs", path, () -> {
            SpaceUse space = operations.space();
            long freeFiles = space.freeFiles(BLOCK_BYTES);
            Statvfs statvfs = Statvfs.of(target);
            statvfs.f_bsize.set(BLOCK_BYTES);
            statvfs.f_frsize.set(BLOCK_BYTES);
            statvfs.f_blocks.set(space.capacityBytes() / BLOCK_BYTES);
            statvfs.f_bfree.set(space.freeBytes() / BLOCK_BYTES);
            statvfs.f_bavail.set(space.availableBytes() / BLOCK_BYTES);
            statvfs.f_files.set(space.files() + freeFiles);
            statvfs.f_ffree.set(freeFiles);
            statvfs.f_favail.set(freeFiles);
            statvfs.f_namemax.set(MAX_NAME_BYTES);
            return 0;
        });
    }

    private int setExtendedAttribute(Pointer path, Pointer name, Pointer value, long size, int flags) {
        return Guard.run("setxattr", path, () -> {
            byte[] attribute = attributeName(name);
            if (size > MAX_XATTR_BYTES) {
                return -Errno.E2BIG;
            }
            byte[] bytes = new byte[(int) size];
            value.get(0, bytes, 0, bytes.length);
            SetMode mode = setMode(flags);
            resolver.onInode(CString.bytes(path), inode -> {
                int user = caller.owner().uid();
                if (ExtendedAttributeName.pins(attribute, bytes)
                        && user != 0
                        && user != operations.attributes(inode).uid()) {
                    throw new PosixException(Reason.EPERM, "only its owner may pin inode " + inode);
                }
                operations.setExtendedAttribute(inode, attribute, bytes, mode);
                return 0;
            });
            return 0;
        });
    }

    private static SetMode setMode(int flags) throws PosixException {
        return switch (flags) {
            case 0 -> SetMode.CREATE_OR_REPLACE;
            case XATTR_CREATE -> SetMode.CREATE;
            case XATTR_REPLACE -> SetMode.REPLACE;
            case XATTR_CREATE | XATTR_REPLACE -> SetMode.CREATE_AND_REPLACE;
            default -> throw new PosixException(Reason.EINVAL, "setxattr with flags " + flags);
        };
    }

    private int getExtendedAttribute(Pointer path, Pointer name, @Nullable Pointer buffer, long size) {
        return Guard.run("getxattr", path, () -> {
            byte[] attribute = attributeName(name);
            Optional<byte[]> value = resolver.onInode(
                    CString.bytes(path), inode -> Optional.ofNullable(operations.extendedAttribute(inode, attribute)));
            return value.isEmpty() ? -Errno.ENODATA : sized(value.get(), buffer, size);
        });
    }

    private int listExtendedAttributes(Pointer path, @Nullable Pointer buffer, long size) {
        return Guard.run("listxattr", path, () -> {
            List<byte[]> names = resolver.onInode(CString.bytes(path), operations::extendedAttributes);
            return sized(ExtendedAttributeName.listFor(caller.owner().uid(), names), buffer, size);
        });
    }

    /**
     * Copies the value to the buffer and returns its size in bytes. Only returns the size if the size of the buffer is
     * 0.
     */
    private static int sized(byte[] value, @Nullable Pointer buffer, long size) {
        if (size == 0 || buffer == null) {
            return value.length;
        }
        if (value.length > size) {
            return -Errno.ERANGE;
        }
        buffer.put(0, value, 0, value.length);
        return value.length;
    }

    private int removeExtendedAttribute(Pointer path, Pointer name) {
        return Guard.run("removexattr", path, () -> {
            byte[] attribute = attributeName(name);
            resolver.onInode(CString.bytes(path), inode -> {
                operations.removeExtendedAttribute(inode, attribute);
                return 0;
            });
            return 0;
        });
    }

    /**
     * Returns the name of an attribute. Refuses access lists: libfuse 2 cannot make the kernel enforce them, so storing
     * them would be a false promise.
     */
    private static byte[] attributeName(Pointer name) throws IOException {
        byte[] bytes = CString.bytes(name);
        if (ExtendedAttributeName.isAccessList(bytes)) {
            throw new PosixException(Reason.EOPNOTSUPP, "access lists");
        }
        return bytes;
    }
}
