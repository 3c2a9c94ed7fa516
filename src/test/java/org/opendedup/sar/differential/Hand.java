package org.opendedup.sar.differential;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A process that executes ops in a folder: the program {@code hand.py}. Closing ends it. */
final class Hand implements AutoCloseable {
    private static final String PROGRAM = "/differential/hand.py";
    private static final int LIMIT_SECONDS = 120;

    private final Path errors;
    private final Process process;
    private final BufferedWriter to;
    private final BufferedReader from;
    private final ExecutorService reader = Executors.newSingleThreadExecutor();

    /** Starts a process that works in {@code folder} of a mount; it makes the folder. */
    Hand(Path mountPoint, String folder, boolean isReference) throws IOException {
        List<String> command = new ArrayList<>(List.of("python3", "-B", "-c", program()));
        command.add(mountPoint.toString());
        command.add(mountPoint.resolve(folder).toString());
        if (isReference) {
            command.add("reference");
        }
        errors = Files.createTempFile("hand", ".err");
        process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        to = process.outputWriter();
        from = process.inputReader();
    }

    private static String program() throws IOException {
        try (InputStream in = Hand.class.getResourceAsStream(PROGRAM)) {
            return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        }
    }

    /** Makes the process execute an op; {@link Pending#await} returns the result. */
    Pending start(String op) throws IOException {
        to.write(op);
        to.newLine();
        to.flush();
        Future<Answer> answer = reader.submit(() -> Answer.read(from));
        return () -> await(op, answer);
    }

    /** A result that is not there yet. */
    @FunctionalInterface
    interface Pending {
        Answer await() throws IOException;
    }

    private Answer await(String op, Future<Answer> answer) throws IOException {
        try {
            return answer.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("no answer to " + op + " in " + LIMIT_SECONDS + " s", e);
        } catch (ExecutionException e) {
            throw new AssertionError(op + " broke the hand: " + Files.readString(errors), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        reader.shutdownNow();
        try {
            process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(errors);
    }
}
