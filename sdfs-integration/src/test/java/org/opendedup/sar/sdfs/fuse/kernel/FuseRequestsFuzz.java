package org.opendedup.sar.sdfs.fuse.kernel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.sdfs.fuse.KernelRequests;
import org.opendedup.sar.sdfs.fuse.NothingStored;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;
import org.slf4j.LoggerFactory;

/** Requests as the kernel sends them: opcode, node and arguments are the input, and the rest of the header is right. */
public final class FuseRequestsFuzz {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final int HEADER_BYTES = 40;
    private static final long UNIQUE = 42;

    private static final ByteBuffer REQUEST = buffer(BUFFER_BYTES + 80);
    private static final ByteBuffer REPLY = buffer(BUFFER_BYTES + 16);
    private static final ListAppender<ILoggingEvent> FAILURES = failures();

    /** Has nothing cached. */
    private static final class NoKernel implements KernelCache {
        @Override
        public void invalidate(long inode) {}

        @Override
        public void answerAfterWriteBack(Asker asker, long inode, long from, LateAnswer answer) {}

        @Override
        public void answerInTurn(Asker asker, LateAnswer answer) {
            answer.get();
        }

        @Override
        public void answerOrDropPages(Asker asker, long inode, long from, LateAnswer answer) {
            answer.get();
        }

        @Override
        public void replyInTurn(Asker asker, boolean takesMinutes, LateReply reply) {
            reply.get();
        }
    }

    /** Takes nothing over. */
    private static final class NoLine implements SyncLine {
        @Override
        public boolean takes(Asked asked, Sync sync) {
            return false;
        }

        @Override
        public void serve(Sync sync) throws IOException {
            sync.store();
            sync.check();
        }
    }

    private static final ParserSet PARSERS =
            new ParserSet().add("request", FuseRequestsFuzz::request, seeds()).add("bytes", FuseRequestsFuzz::bytes);

    private FuseRequestsFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    /** The opcode, whether all features were agreed on, the node, and the arguments. */
    private static void request(byte[] input) {
        if (input.length < 3) {
            return;
        }
        int length = HEADER_BYTES + Math.min(input.length - 3, BUFFER_BYTES);
        REQUEST.clear().position(HEADER_BYTES);
        REQUEST.put(input, 3, length - HEADER_BYTES).clear();
        REQUEST.putInt(0, length).putInt(4, input[0] & 0xff).putLong(8, UNIQUE).putLong(16, input[2] & 3);
        dispatch(length, input[1] % 2 == 0);
    }

    private static void bytes(byte[] input) {
        int length = Math.min(input.length, BUFFER_BYTES);
        REQUEST.clear();
        REQUEST.put(input, 0, length).clear();
        dispatch(length, true);
    }

    private static void dispatch(int length, boolean allTaken) {
        FAILURES.list.clear();
        Agreement agreement =
                new Agreement(Protocol.NEWEST_MINOR, allTaken ? -1 : 0, KernelRequests.ALL, Passthrough.NOT_WANTED);
        Dispatcher dispatcher = new Dispatcher(
                new NothingStored(1 << 20),
                new NoKernel(),
                agreement,
                new ServedRequest(unique -> {}),
                unique -> {},
                new NoLine(),
                PassedThroughFiles.none(),
                REQUEST,
                REPLY);
        int replied;
        collectFailures(true);
        try {
            replied = dispatcher.dispatch(length);
        } finally {
            collectFailures(false);
        }
        if (replied != Dispatcher.NO_REPLY) {
            int error = REPLY.getInt(4);
            if (REPLY.getInt(0) != replied || replied < 16 || error > 0 || error < 0 && replied != 16) {
                throw new AssertionError(replied + " bytes, said to be " + REPLY.getInt(0) + ", error " + error);
            }
            dispatcher.takeBack();
        }
        // A reply of EIO hides what an exception would show.
        for (ILoggingEvent event : FAILURES.list) {
            if (event.getMessage().contains("internal error")
                    || event.getMessage().contains("undone")) {
                throw new AssertionError(event.getFormattedMessage() + " "
                        + event.getThrowableProxy().getMessage() + " "
                        + java.util.Arrays.stream(event.getThrowableProxy().getStackTraceElementProxyArray())
                                .limit(6)
                                .toList());
            }
        }
    }

    private static ListAppender<ILoggingEvent> failures() {
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.setContext((LoggerContext) LoggerFactory.getILoggerFactory());
        appender.start();
        return appender;
    }

    /** Collects what is logged about failed requests, instead of printing it; or ends that. */
    private static void collectFailures(boolean begins) {
        for (Class<?> source : new Class<?>[] {Errno.class, Dispatcher.class}) {
            Logger logger = (Logger) LoggerFactory.getLogger(source);
            logger.setLevel(begins ? Level.ERROR : null);
            logger.setAdditive(!begins);
            if (begins) {
                logger.addAppender(FAILURES);
            } else {
                logger.detachAppender(FAILURES);
            }
        }
    }

    /** Each opcode with zeros, and some with right arguments. */
    private static byte[][] seeds() {
        byte[] name = {'f', 'i', 'l', 'e', 0};
        byte[][] seeds = new byte[56][];
        for (int opcode = 0; opcode < seeds.length; opcode++) {
            byte[] seed = new byte[3 + 88];
            seed[0] = (byte) opcode;
            seed[2] = (byte) (opcode == Opcode.LOOKUP ? 1 : 2);
            // Where a request begins with a name, and where it follows numbers.
            for (int at = 3; at + name.length < seed.length; at += 8) {
                System.arraycopy(name, 0, seed, at, opcode % 2 == 0 ? 0 : name.length);
            }
            seeds[opcode] = seed;
        }
        return seeds;
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }
}
