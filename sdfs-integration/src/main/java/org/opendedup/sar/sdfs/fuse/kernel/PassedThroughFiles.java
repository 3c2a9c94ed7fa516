package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open files of one mount that have a backing file, which the kernel reads and writes itself. While one of them is
 * open, the kernel requires the same backing file of every other opening of the inode, and fails an opening that
 * differs with EIO. Therefore the first opening registers the backing file, all share its number, and the last one
 * gives it back. If the registration fails, this service serves the inode until the last opening is closed.
 *
 * <p><b>Attributes.</b> The kernel drops its cached attributes after write(2), but not after a write into mapped
 * memory. Therefore it may cache none while an inode is open for reading and writing, without which no mapping can
 * write. A mapping may outlive its open file without notice. Attributes of inodes that were so open last stay cached
 * for {@value #UNSETTLED_SECONDS} second only.
 */
final class PassedThroughFiles implements Reply.Validity {
    /** In place of a number: this service reads and writes the file. The kernel's numbers are positive. */
    static final int NONE = 0;

    private static final long UNSETTLED_SECONDS = 1;

    /**
     * Number of inodes that count as open for writing last. 16 Ki of them take 1 MiB of heap. A mapping of an inode
     * that was displaced may change the modification time without being seen for {@value Reply#CACHE_SECONDS} seconds.
     */
    private static final int MAX_UNSETTLED = 1 << 14;

    private static final Opened SERVED = new Opened(NONE, Protocol.FOPEN_KEEP_CACHE, false);
    private static final Opened SERVED_ANEW = new Opened(NONE, 0, false);

    private static final Logger LOG = LoggerFactory.getLogger(PassedThroughFiles.class);

    /** The kernel's list of backing files. */
    interface Registry {
        /**
         * Registers a file.
         *
         * @param descriptor descriptor of this process
         * @return its number, which is positive
         */
        int register(int descriptor) throws IOException;

        void release(int number) throws IOException;
    }

    /**
     * The answer to an opening.
     *
     * @param number the kernel's number of the backing file, or {@link #NONE}
     * @param flags {@code FOPEN_*}
     * @param firstMappable true if a mapping may write the inode from now on: the kernel must drop the attributes that
     *     it has
     */
    record Opened(int number, int flags, boolean firstMappable) {
        boolean isPassedThrough() {
            return number != NONE;
        }
    }

    /** An inode with a backing file and at least one opening. {@code number} is NONE if the registration failed. */
    private record Inode(int number, int openings, int mappable) {
        Inode with(int opened, int mapping) {
            return new Inode(number, openings + opened, mappable + mapping);
        }
    }

    /** @param access how the file was opened ({@code O_ACCMODE}) */
    private record Opening(long inode, int access) {
        boolean isWritable() {
            return access != Protocol.O_RDONLY;
        }

        /** Returns whether a mapping of it may write: 1 or 0. */
        int mappable() {
            return isMappable(access) ? 1 : 0;
        }
    }

    /** Returns whether a mapping of a file that was opened with these flags may write. */
    static boolean isMappable(int flags) {
        int access = flags & Protocol.O_ACCESS_MODE;
        return access != Protocol.O_RDONLY && access != Protocol.O_WRONLY;
    }

    /** Returns whether the kernel has an inode open so that a mapping may write its backing file. */
    boolean hasMappable(long inode) {
        Inode open = inodes.get(inode);
        return open != null && open.number() != NONE && open.mappable() > 0;
    }

    private final @Nullable Registry registry;
    /** Each change of an entry includes the kernel's part of it, so that no other thread sees one without the other. */
    private final Map<Long, Inode> inodes = new ConcurrentHashMap<>();

    private final Map<Long, Opening> openings = new ConcurrentHashMap<>();
    /** Inodes last open for writing by the kernel, and whether a mapping of them may write. Guarded by itself. */
    private final Map<Long, Boolean> unsettled = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > MAX_UNSETTLED;
        }
    };

    private final AtomicBoolean failed = new AtomicBoolean();

    /** @param registry null if the kernel and this service have not agreed on passthrough */
    PassedThroughFiles(@Nullable Registry registry) {
        this.registry = registry;
    }

    /** Returns those of a mount without passthrough: there are none. */
    static PassedThroughFiles none() {
        return new PassedThroughFiles(null);
    }

    /** Returns whether a backing file is of use. */
    boolean areServed() {
        return registry != null;
    }

    /**
     * Notes an opening and says how to answer it. {@link #closed} must follow.
     *
     * @param handle the open file, which is not yet known to the kernel
     * @param descriptor the backing file, or -1
     * @param flags as in open(2)
     */
    Opened opened(long inode, long handle, int descriptor, int flags) {
        if (registry == null) {
            return SERVED;
        }
        if (descriptor < 0) {
            return served(inode);
        }
        Opening opening = new Opening(inode, flags & Protocol.O_ACCESS_MODE);
        openings.put(handle, opening);
        Inode now = Objects.requireNonNull(inodes.compute(
                inode,
                (key, before) -> (before == null ? new Inode(numberOf(registry, descriptor), 0, 0) : before)
                        .with(1, opening.mappable())));
        return now.number() == NONE
                ? served(inode)
                : new Opened(now.number(), Protocol.FOPEN_PASSTHROUGH, opening.mappable() == 1 && now.mappable() == 1);
    }

    /** Without KEEP_CACHE if the kernel wrote the inode itself before: its own pages may be older. */
    private Opened served(long inode) {
        synchronized (unsettled) {
            return unsettled.remove(inode) == null ? SERVED : SERVED_ANEW;
        }
    }

    private int numberOf(Registry kernel, int descriptor) {
        try {
            return kernel.register(descriptor);
        } catch (IOException e) {
            if (failed.compareAndSet(false, true)) {
                LOG.warn(
                        "a file is read and written through this program, not by the kernel alone: {}", e.getMessage());
            }
            return NONE;
        }
    }

    /**
     * Notes that a handle is about to be closed. Before the handle is closed, because the file that backs the inode may
     * change afterwards.
     */
    void closed(long handle) {
        Registry kernel = registry;
        if (kernel == null) {
            return;
        }
        Opening opening = openings.remove(handle);
        if (opening == null) {
            return;
        }
        inodes.computeIfPresent(opening.inode(), (inode, before) -> {
            Inode now = before.with(-1, -opening.mappable());
            if (now.number() != NONE && opening.isWritable()) {
                noteWritten(inode, opening.mappable() == 1);
            }
            if (now.openings() > 0) {
                return now;
            }
            release(kernel, now.number());
            return null;
        });
    }

    private void noteWritten(long inode, boolean mappable) {
        synchronized (unsettled) {
            // Removed first, because the oldest entry is the one that was put first.
            Boolean before = unsettled.remove(inode);
            unsettled.put(inode, mappable || Boolean.TRUE.equals(before));
        }
    }

    private static void release(Registry kernel, int number) {
        if (number == NONE) {
            return;
        }
        try {
            kernel.release(number);
        } catch (IOException e) {
            LOG.warn("the kernel holds a backing file until the volume is unmounted: {}", e.getMessage());
        }
    }

    /** Returns whether the kernel reads and writes the file of a handle itself. */
    boolean passThrough(long handle) {
        if (registry == null) {
            return false;
        }
        Opening opening = openings.get(handle);
        Inode inode = opening == null ? null : inodes.get(opening.inode());
        return inode != null && inode.number() != NONE;
    }

    @Override
    public long secondsOf(long inode) {
        if (registry == null) {
            return Reply.CACHE_SECONDS;
        }
        if (hasMappable(inode)) {
            return 0;
        }
        synchronized (unsettled) {
            return Boolean.TRUE.equals(unsettled.get(inode)) ? UNSETTLED_SECONDS : Reply.CACHE_SECONDS;
        }
    }

    /** Returns the number of inodes that are open and have a backing file. */
    int count() {
        return inodes.size();
    }
}
