package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.PAGE_BYTES;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of requests and replies, in cells: one page for headers, and the largest payload. It is a file in memory,
 * because each cell is mapped twice: for its thread, and where the kernel expects an entry. So an entry can move to
 * another cell while a thread still works in the old one.
 *
 * <p>A page is taken when it is first used. A cell keeps its first {@value #SMALL_CELL_BYTES} bytes. It gives the
 * others back when it has had no large request for a while; at once if too many cells are large.
 */
final class RingMemory implements Closeable {
    static final int CELL_BYTES = PAGE_BYTES + MAX_IO_BYTES;

    /** Memory that each cell keeps, in bytes: enough for names and attributes. */
    static final int SMALL_CELL_BYTES = PAGE_BYTES + (16 << 10);

    /**
     * Time in milliseconds without a large request after which a cell gives back pages, if the system property
     * {@code sar.ring.idle.ms} is not set.
     */
    private static final long IDLE_MS = 10_000;

    /** Instead of the descriptor of a ring. */
    static final int NO_RING = -1;

    private static final int MFD_CLOEXEC = 1;
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int FALLOC_FL_PUNCH_HOLE = 2;

    private static final Logger LOG = LoggerFactory.getLogger(RingMemory.class);

    private final Libc libc;
    private final int fd;
    private final List<Mapping> mappings = new ArrayList<>();
    private final ArrayDeque<Cell> free = new ArrayDeque<>();
    private final int mostLarge;
    private final List<Cell> cells = new ArrayList<>();
    /** Cells that keep all their pages for now. */
    private int large;

    /** A cell as its thread sees it. */
    static final class Cell {
        private final long offset;
        private final Mapping mapping;
        private final long idleNs = TimeUnit.MILLISECONDS.toNanos(Long.getLong("sar.ring.idle.ms", IDLE_MS));
        /** True from a large request until its pages are given back. Written by the cell's thread. */
        private volatile boolean usedBeyondSmall;
        /** Value of {@link System#nanoTime} at the last large request. */
        private volatile long usedNs;
        /** Descriptor of the ring of the cell's thread; {@link #NO_RING} if it does not wait for requests. */
        private volatile int ring = NO_RING;

        private boolean counted;

        private Cell(long offset, Mapping mapping) {
            this.offset = offset;
            this.mapping = mapping;
        }

        Mapping mapping() {
            return mapping;
        }

        /** Notes that this number of bytes after the headers was used. */
        void used(int bytes) {
            if (bytes > SMALL_CELL_BYTES - PAGE_BYTES) {
                usedNs = System.nanoTime();
                usedBeyondSmall = true;
            }
        }

        boolean isUsedBeyondSmall() {
            return usedBeyondSmall;
        }

        /** Returns whether the cell has pages to give back. */
        boolean isIdle() {
            return usedBeyondSmall && System.nanoTime() - usedNs > idleNs;
        }

        /** Notes through which ring the cell's thread can be woken; or {@link #NO_RING}. */
        void awaitsRequestsOn(int descriptor) {
            ring = descriptor;
        }
    }

    /** @param mostLarge number of cells that may keep all their pages for a while */
    RingMemory(Libc libc, int mostLarge) throws IOException {
        this.libc = libc;
        this.mostLarge = mostLarge;
        this.fd = libc.functions().memfd_create("sdfs-fuse", MFD_CLOEXEC);
        if (fd < 0) {
            throw libc.failure("memfd_create");
        }
    }

    /** Returns a cell that nobody uses. */
    synchronized Cell take() throws IOException {
        Cell used = free.poll();
        if (used != null) {
            return used;
        }
        long offset = (long) cells.size() * CELL_BYTES;
        if (libc.functions().ftruncate(fd, offset + CELL_BYTES) != 0) {
            throw libc.failure("taking memory for requests");
        }
        Cell made = new Cell(offset, map(offset));
        cells.add(made);
        return made;
    }

    /** Returns whether a cell may keep its pages for now. For its thread. */
    synchronized boolean mayStayLarge(Cell cell) {
        if (!cell.counted && large < mostLarge) {
            large++;
            cell.counted = true;
        }
        return cell.counted;
    }

    /** Gives back the pages of a cell that it does not keep. They hold nothing that is still needed. */
    void shrink(Cell cell) {
        cell.usedBeyondSmall = false;
        synchronized (this) {
            large -= cell.counted ? 1 : 0;
            cell.counted = false;
        }
        long start = cell.offset + SMALL_CELL_BYTES;
        int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
        if (libc.functions().fallocate(fd, mode, start, CELL_BYTES - SMALL_CELL_BYTES) != 0) {
            LOG.warn("memory of requests is not given back", libc.failure("fallocate"));
        }
    }

    /** Wakes the threads of cells that have pages to give back. */
    synchronized void wakeIdle(IoRing waker) throws IOException {
        for (Cell cell : cells) {
            if (cell.ring != NO_RING && cell.isIdle()) {
                waker.wake(cell.ring);
            }
        }
    }

    /** Gives back a cell that no thread and no entry uses. */
    synchronized void giveBack(Cell cell) {
        free.push(cell);
    }

    /** Maps a cell for an entry of the kernel. */
    synchronized Mapping mapForKernel(Cell cell) throws IOException {
        return map(cell.offset);
    }

    /** Makes the kernel's mapping of an entry show this cell. */
    void move(Mapping ofKernel, Cell cell) throws IOException {
        ofKernel.moveTo(fd, cell.offset);
    }

    private Mapping map(long offset) throws IOException {
        Mapping made = new Mapping(libc, fd, offset, CELL_BYTES);
        mappings.add(made);
        return made;
    }

    /** Frees all cells. No thread and no entry may use one. */
    @Override
    public synchronized void close() {
        mappings.forEach(Mapping::close);
        mappings.clear();
        libc.functions().close(fd);
    }
}
