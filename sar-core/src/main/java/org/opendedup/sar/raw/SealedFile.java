package org.opendedup.sar.raw;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.crypt.SectorCipher;
import org.opendedup.sar.io.RandomFile;

/**
 * A file whose bytes are encrypted in another file, sector by sector and at the same offsets.
 *
 * <p>A block of 16 zero bytes stands for itself: a hole has them, and no other content is encrypted to them but with a
 * chance of 2 to the power of -128. The last block of the content is filled up to 16 bytes, and as many bytes follow it
 * as were filled up. So the length of the content follows from the length of the file, and each change of it is one
 * call of the file system. What is filled up and what follows says nothing; it is cleared before the content grows over
 * it.
 *
 * <p>A write reads the sectors that it covers in part, and writes them whole. What it writes anew of them does not
 * change.
 */
final class SealedFile implements RandomFile {
    private static final int BLOCK = SectorCipher.BLOCK_BYTES;
    private static final int SECTOR = SectorCipher.SECTOR_BYTES;
    /** Bytes that one call of the file system transfers. */
    private static final int STEP = 64 * SECTOR;

    private static final byte[] ZEROS = new byte[BLOCK];

    private final RandomFile file;
    private final long number;
    private final SectorCipher cipher;
    private final Lock reading;
    private final Lock writing;

    SealedFile(RandomFile file, long number, SectorCipher cipher, ReadWriteLock lock) {
        this.file = file;
        this.number = number;
        this.cipher = cipher;
        reading = lock.readLock();
        writing = lock.writeLock();
    }

    /** Returns the length of the content of a file with a length. */
    static long opened(long length) {
        return length - 2 * (length % BLOCK);
    }

    /** Returns the length of a file that has content of a length. */
    static long sealed(long length) {
        return 2 * blockEnd(length) - length;
    }

    static Status opened(Status status) {
        return new Status(opened(status.size()), status.allocatedBytes(), status.modifiedNs(), status.changedNs());
    }

    private static long blockEnd(long offset) {
        return (offset + BLOCK - 1) / BLOCK * BLOCK;
    }

    private static long sectorStart(long offset) {
        return offset / SECTOR * SECTOR;
    }

    private long length() throws IOException {
        return opened(file.status().size());
    }

    /** The kernel must not get the encrypted bytes. */
    @Override
    public int descriptor() {
        return -1;
    }

    @Override
    public int read(long offset, ByteBuffer target) throws IOException {
        reading.lock();
        try {
            long end = Math.min(length(), offset + target.remaining());
            byte[] bytes = new byte[(int) Math.max(0, Math.min(STEP, blockEnd(end) - sectorStart(offset)))];
            long at = offset;
            while (at < end) {
                long start = sectorStart(at);
                int count = (int) Math.min(bytes.length, blockEnd(end) - start);
                readOpened(start, bytes, 0, count);
                int from = (int) (at - start);
                int given = (int) Math.min(count - from, end - at);
                target.put(bytes, from, given);
                at += given;
            }
            return (int) Math.max(0, end - offset);
        } finally {
            reading.unlock();
        }
    }

    /** Reads content from the start of a sector on; {@code count} is a multiple of a block. */
    private void readOpened(long start, byte[] bytes, int offset, int count) throws IOException {
        int found = file.read(start, ByteBuffer.wrap(bytes, offset, count));
        Arrays.fill(bytes, offset + found, offset + count, (byte) 0);
        for (int at = 0; at < count; at += SECTOR) {
            decrypt((start + at) / SECTOR, bytes, offset + at, Math.min(SECTOR, count - at));
        }
    }

    private void decrypt(long sector, byte[] bytes, int offset, int count) {
        boolean[] isHole = new boolean[SECTOR / BLOCK];
        int holes = 0;
        for (int block = 0; block < count / BLOCK; block++) {
            int at = offset + block * BLOCK;
            isHole[block] = Arrays.equals(bytes, at, at + BLOCK, ZEROS, 0, BLOCK);
            holes += isHole[block] ? 1 : 0;
        }
        if (holes == count / BLOCK) {
            return;
        }
        cipher.decrypt(number, sector, bytes, offset, count);
        for (int block = 0; holes > 0 && block < count / BLOCK; block++) {
            if (isHole[block]) {
                Arrays.fill(bytes, offset + block * BLOCK, offset + (block + 1) * BLOCK, (byte) 0);
            }
        }
    }

    @Override
    public void write(long offset, ByteBuffer source) throws IOException {
        writing.lock();
        try {
            long at = offset;
            while (source.hasRemaining()) {
                long start = sectorStart(at);
                int count = (int) Math.min(source.remaining(), start + STEP - at);
                write(start, (int) (at - start), source, count);
                at += count;
            }
        } finally {
            writing.unlock();
        }
    }

    /** Writes {@code count} bytes, the first of them {@code from} bytes after the start of a sector. */
    private void write(long start, int from, ByteBuffer source, int count) throws IOException {
        long length = length();
        long end = start + from + count;
        if (end > length && start + from > length) {
            clearEnd(length);
        }
        long newLength = Math.max(length, end);
        // As far as the last sector has content.
        int covered = (int) (Math.min(newLength, sectorStart(end + SECTOR - 1)) - start);
        int blocks = (int) blockEnd(covered);
        int behind = end > length ? blocks - covered : 0;
        byte[] bytes = new byte[blocks + behind];
        readEdge(start, 0, from, length, bytes);
        readEdge(start, from + count, covered, length, bytes);
        source.get(bytes, from, count);
        for (int at = 0; at < blocks; at += SECTOR) {
            cipher.encrypt(number, (start + at) / SECTOR, bytes, at, Math.min(SECTOR, blocks - at));
        }
        try {
            file.write(start, ByteBuffer.wrap(bytes));
        } catch (IOException e) {
            takeBackTo(length, e);
            throw e;
        }
        if (end > length && file.status().size() > sealed(newLength)) {
            file.truncate(sealed(newLength));
        }
    }

    /** A write that ended in the middle left a length that says nothing. */
    private void takeBackTo(long length, IOException failure) {
        try {
            if (file.status().size() != sealed(length)) {
                file.truncate(sealed(length));
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /** Reads the content of the sector of {@code from}, if the range has bytes. Bytes after the end are zeros. */
    private void readEdge(long start, int from, int to, long length, byte[] bytes) throws IOException {
        int sector = from / SECTOR * SECTOR;
        int content = (int) Math.min(Math.min(SECTOR, bytes.length - sector), Math.max(0, length - start - sector));
        if (from < to && content > 0) {
            readOpened(start + sector, bytes, sector, Math.min((int) blockEnd(content), bytes.length - sector));
            Arrays.fill(bytes, sector + content, Math.min(sector + SECTOR, bytes.length), (byte) 0);
        }
    }

    /** Clears what follows the content, so that it may grow over it. */
    private void clearEnd(long length) throws IOException {
        if (length % BLOCK == 0) {
            return;
        }
        long start = sectorStart(length);
        int content = (int) (length - start);
        int blocks = (int) blockEnd(content);
        byte[] bytes = new byte[blocks + blocks - content];
        readOpened(start, bytes, 0, blocks);
        Arrays.fill(bytes, content, bytes.length, (byte) 0);
        cipher.encrypt(number, start / SECTOR, bytes, 0, blocks);
        file.write(start, ByteBuffer.wrap(bytes));
    }

    private void grow(long length, long newLength) throws IOException {
        if (newLength > length) {
            clearEnd(length);
            file.truncate(sealed(newLength));
        }
    }

    @Override
    public void truncate(long size) throws IOException {
        writing.lock();
        try {
            long length = length();
            if (size < length) {
                file.truncate(sealed(size));
            } else {
                grow(length, size);
            }
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void allocate(long offset, long length, boolean keepSize) throws IOException {
        writing.lock();
        try {
            long start = offset / BLOCK * BLOCK;
            file.allocate(start, blockEnd(offset + length) - start, true);
            if (!keepSize) {
                grow(length(), offset + length);
            }
        } finally {
            writing.unlock();
        }
    }

    @Override
    public void zero(long offset, long length, boolean keepSize) throws IOException {
        writing.lock();
        try {
            long before = length();
            long end = keepSize ? Math.min(before, offset + length) : offset + length;
            if (!keepSize) {
                grow(before, end);
            }
            long blocksStart = blockEnd(offset);
            long blocksEnd = end / BLOCK * BLOCK;
            if (blocksStart < blocksEnd) {
                file.zero(blocksStart, blocksEnd - blocksStart, keepSize);
                zeroEdge(offset, blocksStart);
                zeroEdge(blocksEnd, end);
            } else {
                zeroEdge(offset, end);
            }
        } finally {
            writing.unlock();
        }
    }

    /** Zeroes fewer than two blocks within the content. */
    private void zeroEdge(long from, long to) throws IOException {
        if (from < to) {
            write(sectorStart(from), (int) (from % SECTOR), ByteBuffer.allocate((int) (to - from)), (int) (to - from));
        }
    }

    @Override
    public long seekData(long offset) throws IOException {
        reading.lock();
        try {
            long found = file.seekData(offset);
            if (found >= length()) {
                throw new PosixException(
                        PosixException.Reason.ENXIO, file + " has no data from byte " + offset + " on");
            }
            return found;
        } finally {
            reading.unlock();
        }
    }

    @Override
    public long seekHole(long offset) throws IOException {
        reading.lock();
        try {
            long length = length();
            if (offset >= length) {
                throw new PosixException(PosixException.Reason.ENXIO, file + " ends before byte " + offset);
            }
            return Math.min(file.seekHole(offset), length);
        } finally {
            reading.unlock();
        }
    }

    @Override
    public void force() throws IOException {
        file.force();
    }

    @Override
    public void setModified(long ns) throws IOException {
        file.setModified(ns);
    }

    @Override
    public Status status() throws IOException {
        return opened(file.status());
    }

    @Override
    public void close() {
        file.close();
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
