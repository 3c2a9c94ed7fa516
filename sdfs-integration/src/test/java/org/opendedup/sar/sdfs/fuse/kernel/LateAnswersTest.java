package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.Asker;
import org.opendedup.sar.sdfs.fuse.kernel.KernelCache.LateAnswer;

/** Answers that wait until the kernel has sent what it has of a file, on files in place of the channels. */
@Timeout(120)
class LateAnswersTest {
    private static final int NOTE_BYTES = 40;
    private static final int ERROR = 4;
    private static final int UNIQUE = 8;
    private static final int INODE = 16;
    private static final int FROM = 24;

    @TempDir
    Path folder;

    private final Libc.Functions real = new Libc().functions();

    /** Runs in the thread that sends a notification, when this is put together and not sent yet. */
    @FunctionalInterface
    private interface Moment {
        void pass() throws Exception;
    }

    private Libc libc(Moment moment) {
        return new Libc((Libc.Functions) Proxy.newProxyInstance(
                Libc.class.getClassLoader(), new Class<?>[] {Libc.Functions.class}, (self, method, arguments) -> {
                    if (method.getName().equals("write") && arguments[2].equals((long) NOTE_BYTES)) {
                        moment.pass();
                    }
                    return method.invoke(real, arguments);
                }));
    }

    private static SharedDescriptor open(Libc libc, Path file) throws IOException {
        return new SharedDescriptor(libc, libc.open(Files.createFile(file), Libc.O_RDWR));
    }

    private static ByteBuffer sent(Path file) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
    }

    /** Otherwise the answer of one is made without the bytes of its file, and a copy has zeros in their place. */
    @Test
    void eachFileIsSentWhoeverElseWaitsForAnother() throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);
        Libc libc = libc(() -> both.await(60, TimeUnit.SECONDS));
        Path one = folder.resolve("one");
        Path other = folder.resolve("other");
        LateAnswers answers = new LateAnswers(libc);
        try (SharedDescriptor first = open(libc, one);
                SharedDescriptor second = open(libc, other)) {
            answers.submitAfterWriteBack(first, new Asker(1, 101), 11, 4096, () -> 1);
            answers.submitAfterWriteBack(second, new Asker(2, 102), 22, 8192, () -> 2);
            answers.close();
        }
        ByteBuffer ofOne = sent(one);
        ByteBuffer ofOther = sent(other);
        assertEquals(NOTE_BYTES, ofOne.getInt(0));
        assertEquals(11, ofOne.getLong(INODE));
        assertEquals(4096, ofOne.getLong(FROM));
        assertEquals(22, ofOther.getLong(INODE));
        assertEquals(8192, ofOther.getLong(FROM));
    }

    /** The kernel sends the bytes in the meantime, which takes as long as the writes. */
    @Test
    void othersAreAnsweredWhileAFileIsSent() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch written = new CountDownLatch(1);
        Libc libc = libc(() -> {
            begun.countDown();
            written.await();
        });
        Path file = folder.resolve("file");
        try (SharedDescriptor device = open(libc, file);
                LateAnswers answers = new LateAnswers(libc)) {
            answers.submitAfterWriteBack(device, new Asker(1, 101), 11, 0, () -> 1);
            begun.await();
            Thread sync = new Thread(() -> answers.send(device, 102, LateAnswer.DONE));
            sync.start();
            sync.join(10_000);
            boolean isAnswered = !sync.isAlive();
            written.countDown();
            sync.join();
            assertTrue(isAnswered, "an fsync waits for another program's seek");
        }
        assertEquals(102, sent(file).getLong(UNIQUE));
    }

    /** A change that failed may have been made in part; one that was made the kernel knows itself. */
    @Test
    void pagesAreDroppedIfAChangeFails() throws Exception {
        Libc libc = libc(() -> {});
        Path file = folder.resolve("file");
        try (SharedDescriptor device = open(libc, file);
                LateAnswers answers = new LateAnswers(libc)) {
            answers.submitOrDropPages(device, new Asker(1, 101), 11, 4096, () -> -Errno.EIO);
        }
        ByteBuffer sent = sent(file);
        assertEquals(NOTE_BYTES, sent.getInt(0));
        assertEquals(11, sent.getLong(INODE));
        assertEquals(4096, sent.getLong(FROM));
        assertEquals(-Errno.EIO, sent.getInt(NOTE_BYTES + ERROR), "the answer follows");
        assertEquals(101, sent.getLong(NOTE_BYTES + UNIQUE));

        Path other = folder.resolve("other");
        try (SharedDescriptor device = open(libc, other);
                LateAnswers answers = new LateAnswers(libc)) {
            answers.submitOrDropPages(device, new Asker(1, 102), 11, 4096, () -> LateAnswer.DONE);
        }
        assertEquals(16, Files.size(other));
    }

    /** An answer without what the kernel has would say that there is a hole. */
    @Test
    void whatCannotBeSentFailsTheAnswer() throws Exception {
        Path file = folder.resolve("file");
        Libc libc = new Libc((Libc.Functions) Proxy.newProxyInstance(
                Libc.class.getClassLoader(),
                new Class<?>[] {Libc.Functions.class},
                (self, method, arguments) -> method.getName().equals("fcntl") ? -1 : method.invoke(real, arguments)));
        try (SharedDescriptor device = open(libc, file);
                LateAnswers answers = new LateAnswers(libc)) {
            answers.submitAfterWriteBack(device, new Asker(1, 101), 11, 0, () -> 1);
        }
        ByteBuffer answer = sent(file);
        assertEquals(101, answer.getLong(UNIQUE));
        assertEquals(-Errno.EIO, answer.getInt(ERROR));
    }
}
