package org.opendedup.sar.volume.send;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.Fingerprints;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamMessage.Answer;
import org.opendedup.sar.volume.stream.StreamMessage.ChunkList;
import org.opendedup.sar.volume.stream.StreamMessage.Chunks;
import org.opendedup.sar.volume.stream.StreamMessage.End;
import org.opendedup.sar.volume.stream.StreamMessage.Offer;
import org.opendedup.sar.volume.stream.StreamWriter;

/**
 * Reads the chunks of windows and writes their messages, in two threads: while one window is compressed and written,
 * the next is read. If the receiver answers, some more windows are offered ahead, so that the time of an answer is not
 * waited for. For one thread.
 */
final class WindowSender implements Closeable {
    /** Windows that are offered ahead of the one that is read: 64 MiB of chunks if all are lacking. */
    private static final int OFFERED_AHEAD = 8;

    /** Bytes of chunks that are compressed together. */
    private static final int MESSAGE_BYTES = 256 << 10;

    private static final long STEP_MS = 100;

    private final StreamWriter out;
    private final @Nullable Answers answers;
    private final ChunkLoader loader;
    private final StopCheck stop;
    private final Deque<Offered> offered = new ArrayDeque<>();
    /** Buffers that are not in use: one is read into while the other is written. */
    private final BlockingQueue<byte[]> buffers = new ArrayBlockingQueue<>(2);

    /** What the other thread writes. */
    private final BlockingQueue<Closing.Step> steps = new ArrayBlockingQueue<>(4);

    private final Thread thread;
    private volatile @Nullable IOException failure;
    private volatile boolean isDone;
    private long chunks;
    private long chunkBytes;

    /**
     * A window that is offered.
     *
     * @param known numbers of the chunks that are offered
     */
    private record Offered(Window window, int[] known) {}

    /**
     * @param answers null: the receiver does not answer
     * @param stop asked while this waits
     */
    WindowSender(StreamWriter out, @Nullable Answers answers, ChunkLoader loader, StopCheck stop) {
        this.out = out;
        this.answers = answers;
        this.loader = loader;
        this.stop = stop;
        buffers.add(new byte[Window.MOST_BYTES]);
        buffers.add(new byte[Window.MOST_BYTES]);
        thread = new Thread(this::writeAll, "send");
        thread.setDaemon(true);
        thread.start();
    }

    private void writeAll() {
        try {
            while (!isDone) {
                steps.take().run();
            }
        } catch (IOException e) {
            failure = e;
        } catch (InterruptedException e) {
            failure = new InterruptedIOException("sending was ended");
        } catch (RuntimeException | Error e) {
            // Without a failure, the end of this thread would mean that all is written.
            failure = new IOException("sending failed: " + e, e);
        }
    }

    private void put(Closing.Step step) throws IOException {
        while (!offer(step)) {
            check();
        }
    }

    private boolean offer(Closing.Step step) throws IOException {
        try {
            return steps.offer(step, STEP_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while waiting for the receiver");
    }

    private void check() throws IOException {
        IOException why = failure;
        if (why != null) {
            String refusal = answers == null ? null : answers.refusal();
            throw new IOException(
                    refusal == null ? "the stream cannot be written: " + why.getMessage() : "the receiver: " + refusal,
                    why);
        }
        stop.check();
    }

    void start(StreamMessage.Start start) throws IOException {
        put(() -> {
            out.write(start);
            out.flush();
        });
    }

    /** See {@link ChunkLoader#isListed}. */
    boolean isListed(long chunkId, int fingerprintPrefix) throws IOException {
        return loader.isListed(chunkId, fingerprintPrefix);
    }

    /** Sends a window, now or after those that are offered before it. */
    void send(Window window) throws IOException {
        if (answers == null) {
            write(window, window);
            return;
        }
        offered.add(offer(window));
        if (offered.size() > OFFERED_AHEAD) {
            writeOldest(answers);
        }
    }

    private Offered offer(Window window) throws IOException {
        byte[] listed = loader.listed(window);
        int[] known = IntStream.range(0, window.count())
                .filter(chunk -> ChunkLoader.isKnown(listed, chunk))
                .toArray();
        if (known.length > 0) {
            byte[] fingerprints = new byte[known.length * Fingerprints.BYTES];
            for (int i = 0; i < known.length; i++) {
                System.arraycopy(
                        listed,
                        known[i] * Fingerprints.BYTES,
                        fingerprints,
                        i * Fingerprints.BYTES,
                        Fingerprints.BYTES);
            }
            Window some = window.with(chunk -> Arrays.binarySearch(known, chunk) >= 0);
            Offer message = new Offer(list(some, 0, some.count(), fingerprints));
            put(() -> {
                out.write(message);
                out.flush();
            });
        }
        return new Offered(window, known);
    }

    private void writeOldest(Answers from) throws IOException {
        Offered oldest = offered.remove();
        int[] known = oldest.known;
        Answer answer = known.length == 0 ? new Answer(new byte[0]) : from.answer(known.length);
        Window lacking = oldest.window.with(chunk -> {
            int asked = Arrays.binarySearch(known, chunk);
            return asked < 0 || answer.lacks(asked);
        });
        write(oldest.window, lacking);
    }

    /** Reads chunks, and has them and the messages of their window written. */
    private void write(Window window, Window lacking) throws IOException {
        byte[] buffer = buffer(lacking);
        byte[] fingerprints = loader.read(lacking, buffer);
        chunks += lacking.count();
        chunkBytes += lacking.bytes();
        put(() -> {
            writeChunks(lacking, buffer, fingerprints);
            for (StreamMessage message : window.messages()) {
                out.write(message);
            }
            out.flush();
            if (buffer.length == Window.MOST_BYTES) {
                buffers.add(buffer);
            }
        });
    }

    private byte[] buffer(Window window) throws IOException {
        if (window.count() == 0 || window.bytes() > Window.MOST_BYTES) {
            return new byte[(int) window.bytes()];
        }
        try {
            byte[] free = buffers.poll(STEP_MS, TimeUnit.MILLISECONDS);
            while (free == null) {
                check();
                free = buffers.poll(STEP_MS, TimeUnit.MILLISECONDS);
            }
            return free;
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private void writeChunks(Window window, byte[] buffer, byte[] fingerprints) throws IOException {
        int at = 0;
        for (int from = 0; from < window.count(); ) {
            int to = from;
            int bytes = 0;
            do {
                bytes += window.length(to++);
            } while (to < window.count() && bytes + window.length(to) <= MESSAGE_BYTES);
            out.write(new Chunks(list(window, from, to, fingerprints), Arrays.copyOfRange(buffer, at, at + bytes)));
            at += bytes;
            from = to;
        }
    }

    private static ChunkList list(Window window, int from, int to, byte[] fingerprints) {
        long[] ids = new long[to - from];
        int[] lengths = new int[to - from];
        for (int i = from; i < to; i++) {
            ids[i - from] = window.chunkId(i);
            lengths[i - from] = window.length(i);
        }
        return new ChunkList(
                ids, lengths, Arrays.copyOfRange(fingerprints, from * Fingerprints.BYTES, to * Fingerprints.BYTES));
    }

    /** Sends what is offered, and ends the stream; returns when everything is written. */
    End end(long removed, long changed) throws IOException {
        while (answers != null && !offered.isEmpty()) {
            writeOldest(answers);
        }
        End end = new End(removed, changed, chunks, chunkBytes);
        put(() -> {
            out.write(end);
            out.flush();
            isDone = true;
        });
        while (thread.isAlive()) {
            try {
                thread.join(STEP_MS);
            } catch (InterruptedException e) {
                throw interrupted();
            }
            stop.check();
        }
        check();
        return end;
    }

    /** Ends the other thread, also while it writes to a channel that nobody reads. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
