package org.opendedup.sar.volume.send;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.stream.StreamMessage;
import org.opendedup.sar.volume.stream.StreamMessage.Answer;
import org.opendedup.sar.volume.stream.StreamMessage.Greeting;
import org.opendedup.sar.volume.stream.StreamMessage.Received;
import org.opendedup.sar.volume.stream.StreamMessage.Refused;
import org.opendedup.sar.volume.stream.StreamReader;

/**
 * What a receiver says. A thread reads it all the time, so a receiver never waits until its answer is read, and the two
 * pipes cannot block each other.
 */
final class Answers implements Closeable {
    private static final String NAME = "the receiver's answers";
    private static final long STEP_MS = 100;
    /** More than a receiver has to say at a time: a greeting, an answer to each window that is offered, its end. */
    private static final int MOST_WAITING = 16;

    private final InputStream in;
    private final StopCheck stop;
    private final Thread thread;
    private final BlockingQueue<StreamMessage> messages = new ArrayBlockingQueue<>(MOST_WAITING);
    /** Why no more messages come; written once. */
    private volatile @Nullable IOException failure;

    /** @param stop asked while this waits */
    Answers(InputStream in, StopCheck stop) {
        this.in = in;
        this.stop = stop;
        thread = new Thread(this::readAll, "send-answers");
        thread.setDaemon(true);
        thread.start();
    }

    private void readAll() {
        try (StreamReader reader = StreamReader.beginAnswers(new BufferedInputStream(in), NAME)) {
            if (reader == null) {
                failure = new IOException("the receiver ended without a word");
                return;
            }
            StreamMessage message;
            do {
                message = reader.read();
                if (!messages.offer(message)) {
                    throw new CorruptionException(NAME, -1, "answers to its offers", "more");
                }
            } while (!(message instanceof Received || message instanceof Refused));
        } catch (IOException e) {
            failure = new IOException("the receiver ended before it had everything: " + e.getMessage(), e);
        }
    }

    private <M extends StreamMessage> M next(Class<M> kind) throws IOException {
        StreamMessage message = null;
        while (message == null) {
            IOException why = failure;
            try {
                message = messages.poll(why == null ? STEP_MS : 0, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for the receiver");
            }
            if (message == null && why != null) {
                throw why;
            }
            stop.check();
        }
        if (message instanceof Refused refused) {
            messages.add(refused);
            throw new IOException("the receiver: " + Printable.line(refused.why()));
        }
        if (!kind.isInstance(message)) {
            throw new CorruptionException(
                    NAME, -1, kind.getSimpleName(), message.getClass().getSimpleName());
        }
        return kind.cast(message);
    }

    Greeting greeting() throws IOException {
        return next(Greeting.class);
    }

    /** @param chunks number of chunks that were offered */
    Answer answer(int chunks) throws IOException {
        Answer answer = next(Answer.class);
        if (answer.lacking().length != (chunks + Byte.SIZE - 1) / Byte.SIZE) {
            throw new CorruptionException(
                    NAME, -1, "an answer for " + chunks + " chunks", answer.lacking().length + " bytes");
        }
        return answer;
    }

    /** Waits until the receiver has everything, durably. */
    void awaitReceived() throws IOException {
        next(Received.class);
    }

    /** Returns why the receiver refused; null if it did not. Waits a moment: its pipe may have broken first. */
    @Nullable
    String refusal() {
        try {
            thread.join(10 * STEP_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return messages.stream()
                .filter(Refused.class::isInstance)
                .map(message -> Printable.line(((Refused) message).why()))
                .findFirst()
                .orElse(null);
    }

    @Override
    public void close() throws IOException {
        in.close();
        thread.interrupt();
    }
}
