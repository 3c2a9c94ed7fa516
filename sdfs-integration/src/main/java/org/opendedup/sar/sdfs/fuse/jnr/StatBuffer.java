package org.opendedup.sar.sdfs.fuse.jnr;

import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import jnr.ffi.provider.ParameterFlags;
import org.opendedup.sar.volume.posix.Attributes;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.Timespec;

/**
 * Fills {@code struct stat}, whose layout differs between processors. Each thread fills and copies one structure,
 * because jnr allocates an object for each field when it wraps a structure.
 */
final class StatBuffer {
    private static final long NANOS = 1_000_000_000;
    private static final int BLOCK_BYTES = 4096;

    private final FileStat stat;
    private final Pointer memory;
    private final int bytes;

    StatBuffer(Runtime runtime) {
        stat = new FileStat(runtime);
        memory = Struct.getMemory(stat, ParameterFlags.DIRECT);
        bytes = Struct.size(stat);
    }

    /** Copies the attributes to native memory. */
    void copy(Attributes attributes, Pointer target) {
        stat.st_ino.set(attributes.inode());
        stat.st_mode.set(attributes.mode());
        stat.st_nlink.set(attributes.links());
        stat.st_uid.set(attributes.uid());
        stat.st_gid.set(attributes.gid());
        stat.st_rdev.set(attributes.device());
        stat.st_size.set(attributes.size());
        stat.st_blocks.set(attributes.blocks());
        stat.st_blksize.set(BLOCK_BYTES);
        put(stat.st_atim, attributes.accessedNs());
        put(stat.st_mtim, attributes.modifiedNs());
        put(stat.st_ctim, attributes.changedNs());
        memory.transferTo(0, target, 0, bytes);
    }

    private static void put(Timespec time, long nanos) {
        time.tv_sec.set(Math.floorDiv(nanos, NANOS));
        time.tv_nsec.set(Math.floorMod(nanos, NANOS));
    }

    /** Returns the attributes of an entry of a listing: inode number and type. Valid until the next call. */
    Pointer entry(long inode, int type) {
        stat.st_ino.set(inode);
        stat.st_mode.set(type);
        return memory;
    }
}
