package org.opendedup.sar.sdfs.cli.control;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.opendedup.sar.sdfs.cli.report.Json;

/**
 * Sends and receives JSON messages over a socket, one a line. Neither a silent nor a talkative peer can block the
 * caller: the time of a connection and the length of a request are bounded.
 */
final class MessageChannel implements Closeable {
    /** Version of the messages; each message names it. */
    static final int PROTOCOL_VERSION = 1;

    /** Longest request in bytes. */
    static final int REQUEST_BYTES_MAX = 64 << 10;

    private static final int PIECE_BYTES = 4096;

    private final SocketChannel channel;
    private final Selector selector;
    private final Duration timeout;
    private final long deadlineNanos;

    /** Takes ownership of the channel. */
    MessageChannel(SocketChannel channel, Duration timeout) throws IOException {
        this.channel = channel;
        this.timeout = timeout;
        this.deadlineNanos = System.nanoTime() + timeout.toNanos();
        channel.configureBlocking(false);
        this.selector = Selector.open();
    }

    /** Returns a message as it is sent. */
    static byte[] line(Object message) {
        return (Json.line(message) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Sends a message of any length, which is never whole in memory. */
    void send(Record message) throws IOException {
        var out = new BufferedOutputStream(
                new OutputStream() {
                    @Override
                    public void write(int one) throws IOException {
                        send(new byte[] {(byte) one});
                    }

                    @Override
                    public void write(byte[] bytes, int offset, int length) throws IOException {
                        send(ByteBuffer.wrap(bytes, offset, length));
                    }
                },
                PIECE_BYTES);
        Json.write(out, message);
        out.write('\n');
        out.flush();
    }

    void send(byte[] line) throws IOException {
        send(ByteBuffer.wrap(line));
    }

    private void send(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            // The JDK copies each piece to memory outside the heap, which is scarce.
            ByteBuffer piece = bytes.slice(bytes.position(), Math.min(bytes.remaining(), PIECE_BYTES));
            int written = channel.write(piece);
            bytes.position(bytes.position() + written);
            if (written == 0) {
                // A long message may take longer than the limit, as long as the peer goes on to read.
                await(SelectionKey.OP_WRITE, System.nanoTime() + timeout.toNanos());
            }
        }
    }

    /**
     * Reads one message.
     *
     * @param most longest line in bytes
     * @throws EOFException if the peer ends before a whole line
     * @throws SocketTimeoutException if the time limit has passed
     * @throws IOException if the line is too long or not a JSON object
     */
    Map<String, Object> receive(int most) throws IOException {
        var line = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(PIECE_BYTES);
        while (true) {
            int read = channel.read(buffer.clear());
            if (read < 0) {
                throw new EOFException(
                        "the connection ended before the answer did: the other process has ended, or closed it");
            } else if (read == 0) {
                await(SelectionKey.OP_READ, deadlineNanos);
            }
            for (buffer.flip(); buffer.hasRemaining(); ) {
                byte next = buffer.get();
                if (next == '\n') {
                    return Json.read(line.toString(StandardCharsets.UTF_8));
                }
                line.write(next);
            }
            if (line.size() > most) {
                throw new IOException("a line of more than " + most + " bytes");
            }
        }
    }

    /** Waits without limit until the peer closes the connection; drops everything it sends until then. */
    void awaitEnd() throws IOException {
        ByteBuffer dropped = ByteBuffer.allocate(64);
        channel.register(selector, SelectionKey.OP_READ);
        while (channel.read(dropped.clear()) >= 0) {
            selector.select();
            selector.selectedKeys().clear();
        }
    }

    /** Ends the messages: from now on the connection carries bytes. The peer must have read all messages. */
    ByteConnection bytes() throws IOException {
        selector.close();
        channel.configureBlocking(true);
        return new ByteConnection(channel);
    }

    private void await(int operation, long deadline) throws IOException {
        long millis = (deadline - System.nanoTime()) / 1_000_000;
        SelectionKey key = channel.register(selector, operation);
        if (millis <= 0 || selector.select(millis) == 0) {
            throw new SocketTimeoutException("no answer in time");
        }
        selector.selectedKeys().clear();
        key.interestOps(0);
    }

    @Override
    public void close() throws IOException {
        selector.close();
        channel.close();
    }
}
