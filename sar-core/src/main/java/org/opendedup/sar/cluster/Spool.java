package org.opendedup.sar.cluster;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.opendedup.sar.common.ArrayInputStream;
import org.opendedup.sar.crypt.ScratchCipher;

/**
 * The records of an archive that is being written: names and fingerprints, which a volume may store encrypted, so the
 * folder for temporary files has them encrypted. The file has no name there: the end of the process deletes it, also
 * one by a kill. For one thread, apart from {@link #read}.
 */
final class Spool implements Closeable {
    private final SeekableByteChannel file;
    private final ScratchCipher cipher = new ScratchCipher();
    private final OutputStream records;

    Spool() throws IOException {
        Path path = Files.createTempFile("cluster-", ".archive");
        try {
            // Linux deletes the name at once.
            file = Files.newByteChannel(
                    path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
        } catch (IOException e) {
            Files.deleteIfExists(path);
            throw e;
        }
        records = new BufferedOutputStream(cipher.encrypting(Channels.newOutputStream(file)));
    }

    void write(byte[] record) throws IOException {
        records.write(record);
    }

    /** Ends the writing. */
    void end() throws IOException {
        records.flush();
    }

    /** Returns a stream of all records, after {@link #end}. Several may be read at the same time. */
    InputStream read() {
        return cipher.decrypting(new ArrayInputStream() {
            private long at;

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                int count = readAt(at, ByteBuffer.wrap(target, offset, length));
                at += Math.max(0, count);
                return count;
            }
        });
    }

    private synchronized int readAt(long offset, ByteBuffer target) throws IOException {
        return file.position(offset).read(target);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
