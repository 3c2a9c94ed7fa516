package org.opendedup.sar.sdfs;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.fuzz.FuzzInputs;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.sdfs.cli.control.CommandTextsFuzz;
import org.opendedup.sar.sdfs.config.VolumeFileFuzz;
import org.opendedup.sar.sdfs.fuse.kernel.FuseRequestsFuzz;
import org.opendedup.sar.sdfs.restore.RestoreJournalFuzz;

/** The seeds of this module's fuzz targets, and changes of them; scripts/fuzz tries more. */
class IntegrationFuzzTest {
    static Stream<ParserSet> targets() {
        return Stream.of(
                VolumeFileFuzz.parsers(),
                FuseRequestsFuzz.parsers(),
                RestoreJournalFuzz.parsers(),
                CommandTextsFuzz.parsers());
    }

    @ParameterizedTest
    @MethodSource("targets")
    void seedsAndTheirChangesGiveAValueOrTheDeclaredError(ParserSet parsers) {
        FuzzInputs.run(parsers);
    }
}
