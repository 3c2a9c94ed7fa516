package org.opendedup.sar.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TurnsTest {
    /** Long enough for a turn that nothing holds up to be seen as one. */
    private static final int WAIT_SECONDS = 2;

    @TempDir
    Path folder;

    private final ExecutorService here = Executors.newSingleThreadExecutor();

    @AfterEach
    void end() {
        here.shutdownNow();
    }

    /** Another process that has a turn until its input ends. */
    static final class Holder {
        /** @param arguments the folder of the locks, and whether it is alone */
        public static void main(String[] arguments) throws IOException {
            Turns.Turn turn = Turns.Turn.take(Path.of(arguments[0]), Boolean.parseBoolean(arguments[1]));
            System.out.println("in");
            while (System.in.read() >= 0) {}
            Files.createFile(Path.of(arguments[0], "left"));
            turn.end();
        }
    }

    private Process hold(boolean alone) throws IOException {
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        folder.toString(),
                        String.valueOf(alone))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader says =
                new BufferedReader(new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8));
        assertEquals("in", says.readLine());
        return holder;
    }

    /** Takes a turn here, and returns whether the holder had left by then. */
    private boolean hadLeft(boolean alone) throws IOException {
        Turns.Turn turn = Turns.Turn.take(folder, alone);
        try {
            return Files.exists(folder.resolve("left"));
        } finally {
            turn.end();
        }
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, true", "true, true"})
    void oneThatIsAloneAndAnotherHaveNoTurnAtTheSameTime(boolean holderAlone, boolean hereAlone) throws Exception {
        Process holder = hold(holderAlone);
        try {
            Future<Boolean> taken = here.submit(() -> hadLeft(hereAlone));
            assertThrows(TimeoutException.class, () -> taken.get(WAIT_SECONDS, TimeUnit.SECONDS));
            holder.getOutputStream().close();
            assertTrue(taken.get());
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }

    /** The control: without {@link Alone} the turns are at the same time. */
    @Test
    void twoThatAreNotAloneHaveTurnsAtTheSameTime() throws Exception {
        Process holder = hold(false);
        try {
            assertFalse(hadLeft(false));
        } finally {
            holder.destroyForcibly().waitFor();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theEndOfAProcessEndsItsTurn(boolean alone) throws Exception {
        hold(alone).destroyForcibly().waitFor();
        assertFalse(hadLeft(true));
    }
}
