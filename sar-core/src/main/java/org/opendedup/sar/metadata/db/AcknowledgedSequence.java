package org.opendedup.sar.metadata.db;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.io.LastingChannel;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small file in the database's folder, {@value #NAME}: the sequence number of the last change that was acknowledged.
 * It is written after the database's log was synced, so a database with a lower number has lost something. It is synced
 * when it is closed, not with each commit: after a power cut it may be as old as the kernel keeps written pages, about
 * half a minute.
 *
 * <p>The user of the database holds the file's lock: the database's logs are read and cut before RocksDB acquires its
 * own lock. Safe for use by many threads.
 */
public final class AcknowledgedSequence implements Closeable {
    public static final String NAME = "ACKNOWLEDGED";

    private static final Logger log = LoggerFactory.getLogger(AcknowledgedSequence.class);

    /** Magic number: the bytes {@code SARA}, read as little-endian. */
    private static final int MAGIC = 0x41524153;

    private static final int VERSION = 1;
    private static final int CRC_OFFSET = 16;
    private static final int BYTES = 20;

    private final Path file;
    private final LockFile lock;
    private final LastingChannel channel;

    /** Last acknowledged sequence number; 0 while unknown: no file, or a damaged one. Guarded by this. */
    private long sequence;

    /** Whether a write failure was already logged. Guarded by this. */
    private boolean warned;

    private AcknowledgedSequence(Path file, LockFile lock, FileChannel channel) {
        this.file = file;
        this.lock = lock;
        this.channel = new LastingChannel(channel, file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /**
     * Opens the file in a database's folder; creates it if it is missing.
     *
     * @param reset true to discard the stored number, which belongs to an earlier database
     * @throws IOException if the database is in use
     */
    public static AcknowledgedSequence open(Path folder, boolean reset) throws IOException {
        Path file = folder.resolve(NAME);
        LockFile lock = LockFile.tryAcquire(file).orElseThrow(() -> inUse(folder));
        try {
            FileChannel channel = PrivateFiles.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            return open(file, lock, channel, reset);
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    private static AcknowledgedSequence open(Path file, LockFile lock, FileChannel channel, boolean reset)
            throws IOException {
        AcknowledgedSequence opened = new AcknowledgedSequence(file, lock, channel);
        try {
            opened.sequence = reset ? 0 : opened.read();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        return opened;
    }

    private static IOException inUse(Path folder) {
        return new IOException("the metadata database in " + folder + " is in use");
    }

    private long read() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining() && channel.with(open -> open.read(bytes, bytes.position())) >= 0) {}
        if (bytes.position() == 0) {
            return 0;
        }
        if (bytes.hasRemaining() || bytes.getInt(0) != MAGIC || bytes.getInt(CRC_OFFSET) != crc(bytes)) {
            log.warn("{} is damaged and is rebuilt; whether the last commit is complete was not checked", file);
            return 0;
        }
        if (bytes.getInt(4) != VERSION) {
            throw new UnsupportedFormatException(file.toString(), bytes.getInt(4), VERSION);
        }
        return bytes.getLong(8);
    }

    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.array(), 0, CRC_OFFSET);
        return (int) crc.getValue();
    }

    /**
     * Fails if changes were acknowledged that the database does not have.
     *
     * @param found the database's last sequence number
     * @param place the database's name for messages to an administrator
     * @param damage known damage, as text for the message
     * @throws CorruptionException if the acknowledged sequence number is higher than {@code found}
     */
    synchronized void requireIn(long found, String place, String damage) throws CorruptionException {
        if (sequence > found) {
            throw new CorruptionException(
                    place,
                    -1,
                    "all changes up to number " + sequence + ", which were acknowledged",
                    "those up to " + found + " only (" + damage + "); " + RocksDbErrors.REMEDY
                            + ". To accept the loss and continue with the older state, delete " + file);
        }
    }

    /** Returns the sequence number of the last acknowledged change; 0 if it is unknown. */
    public synchronized long last() {
        return sequence;
    }

    /**
     * Records that the database's changes up to this sequence number are synced. A failure is logged once and has no
     * other effect: the changes are safe.
     */
    synchronized void raise(long synced) {
        if (synced <= sequence) {
            return;
        }
        sequence = synced;
        ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0, MAGIC).putInt(4, VERSION).putLong(8, synced).putInt(CRC_OFFSET, crc(bytes));
        try {
            while (bytes.hasRemaining()) {
                channel.with(open -> open.write(bytes, bytes.position()));
            }
        } catch (IOException e) {
            if (!warned) {
                warned = true;
                log.warn("{} cannot be written ({}): damage of the last commit may go unnoticed", file, e.getMessage());
            }
        }
    }

    /** Syncs the file and releases the lock. */
    @Override
    public void close() throws IOException {
        try (lock;
                channel) {
            if (channel.isOpen()) {
                channel.force();
            }
        }
    }
}
