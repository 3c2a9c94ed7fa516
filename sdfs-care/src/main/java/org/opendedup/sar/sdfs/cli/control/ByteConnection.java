package org.opendedup.sar.sdfs.cli.control;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.opendedup.sar.common.ArrayInputStream;

/**
 * A connection between a command and the daemon that carries bytes in both directions. One thread may read while
 * another writes; the streams of the JDK for a channel wait for each other. An interrupt ends a read or a write that
 * waits, and closes the connection.
 */
public final class ByteConnection implements Closeable {
    /** Bytes that are read or written at a time: the JDK copies them to memory outside the heap, which is scarce. */
    private static final int PIECE_BYTES = 64 << 10;

    private final SocketChannel channel;

    ByteConnection(SocketChannel channel) {
        this.channel = channel;
    }

    /** Returns what the other side writes; it ends when the other side ends or closes its output. */
    public InputStream in() {
        return new ArrayInputStream() {
            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                return length == 0 ? 0 : channel.read(ByteBuffer.wrap(target, offset, Math.min(length, PIECE_BYTES)));
            }

            @Override
            public void close() throws IOException {
                ByteConnection.this.close();
            }
        };
    }

    /** Returns what the other side reads. */
    public OutputStream out() {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte[] source, int offset, int length) throws IOException {
                for (int done = 0; done < length; ) {
                    int piece = Math.min(length - done, PIECE_BYTES);
                    done += channel.write(ByteBuffer.wrap(source, offset + done, piece));
                }
            }

            @Override
            public void close() throws IOException {
                endOutput();
            }
        };
    }

    /** Says that nothing more is written: the other side reads the end. */
    public void endOutput() throws IOException {
        if (channel.isOpen()) {
            channel.shutdownOutput();
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
