package org.opendedup.sar.sim.trace;

import org.junit.jupiter.api.Test;
import org.opendedup.sar.fuzz.FuzzInputs;

/** The seeds of the traces' fuzz target, and changes of them; scripts/fuzz tries more. */
class TracesFuzzTest {
    @Test
    void seedsAndTheirChangesGiveAValueOrTheDeclaredError() {
        FuzzInputs.run(TracesFuzz.parsers());
    }
}
