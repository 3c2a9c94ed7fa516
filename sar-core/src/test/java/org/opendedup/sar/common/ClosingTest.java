package org.opendedup.sar.common;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosingTest {
    private final IOException first = new IOException("first");
    private final RuntimeException second = new IllegalStateException("second");
    private final List<String> run = new ArrayList<>();

    @Test
    void runsAllStepsAndThrowsTheFirstFailureWithTheOthersAttached() {
        Closing closing = new Closing();
        closing.run(() -> fail("a", first));
        closing.run(() -> run.add("b"));
        closing.run(() -> fail("c", second));
        assertSame(first, assertThrows(IOException.class, closing::finish));
        assertArrayEquals(new Throwable[] {second}, first.getSuppressed());
        assertEquals(List.of("a", "b", "c"), run);
    }

    @Test
    void aStepMayThrowWhatAnotherOneThrew() {
        Closing closing = new Closing();
        closing.run(() -> fail("a", first));
        closing.run(() -> fail("b", first));
        closing.suppressedBy(first);
        assertSame(first, assertThrows(IOException.class, closing::finish));
        assertArrayEquals(new Throwable[0], first.getSuppressed());
    }

    @Test
    void whatFailsAfterAFailureIsAttachedToIt() {
        Closing.after(first, () -> fail("a", second));
        Closing.after(first, () -> run.add("b"));
        assertArrayEquals(new Throwable[] {second}, first.getSuppressed());
    }

    private <E extends Exception> void fail(String step, E failure) throws E {
        run.add(step);
        throw failure;
    }
}
