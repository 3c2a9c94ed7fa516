package org.opendedup.sar.sdfs.fuse.kernel;

import com.kenai.jffi.MemoryIO;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Part of a file or device in the memory of this process (mmap(2)). Its pages are taken when they are first used. */
final class Mapping implements Closeable {
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_FIXED = 0x10;
    private static final long MAP_FAILED = -1;

    private final Libc libc;
    private final long address;
    private final int bytes;

    /**
     * @param offset where the part begins in the file, in bytes: a multiple of the page size
     * @param bytes its length
     */
    Mapping(Libc libc, int fd, long offset, int bytes) throws IOException {
        this.libc = libc;
        this.bytes = bytes;
        this.address = map(libc, 0, bytes, MAP_SHARED, fd, offset);
    }

    /** Replaces the mapped part by another one, at the same address. */
    void moveTo(int fd, long offset) throws IOException {
        map(libc, address, bytes, MAP_SHARED | MAP_FIXED, fd, offset);
    }

    private static long map(Libc libc, long at, int bytes, int flags, int fd, long offset) throws IOException {
        long address = libc.mmap(at, bytes, PROT_READ_WRITE, flags, fd, offset);
        if (address == MAP_FAILED) {
            throw libc.failure("mapping " + bytes + " bytes");
        }
        return address;
    }

    long address() {
        return address;
    }

    /** Returns the bytes as a buffer. It must not be used after {@link #close}. */
    ByteBuffer buffer() {
        return MemoryIO.getInstance().newDirectByteBuffer(address, bytes).order(ByteOrder.nativeOrder());
    }

    @Override
    public void close() {
        libc.functions().munmap(address, bytes);
    }
}
