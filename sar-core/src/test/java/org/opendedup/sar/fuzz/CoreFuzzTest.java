package org.opendedup.sar.fuzz;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.cluster.ClusterFuzz;
import org.opendedup.sar.container.PackFuzz;
import org.opendedup.sar.container.format.ContainerFormatFuzz;
import org.opendedup.sar.keys.KeyHeaderFuzz;
import org.opendedup.sar.metadata.backup.BackupFormatFuzz;
import org.opendedup.sar.metadata.db.MetadataFilesFuzz;
import org.opendedup.sar.metadata.db.MetadataRecordsFuzz;
import org.opendedup.sar.metadata.remote.RemoteFormatFuzz;
import org.opendedup.sar.objects.FolderObjectFuzz;
import org.opendedup.sar.objects.lease.LeaseFuzz;
import org.opendedup.sar.remote.ObjectNamesFuzz;
import org.opendedup.sar.ssd.SsdFormatFuzz;
import org.opendedup.sar.volume.VolumeTextsFuzz;
import org.opendedup.sar.volume.stream.StreamFuzz;

/** The seeds of the engine's fuzz targets, and changes of them; scripts/fuzz tries more. */
class CoreFuzzTest {
    static Stream<ParserSet> targets() {
        return Stream.of(
                ContainerFormatFuzz.parsers(),
                PackFuzz.parsers(),
                KeyHeaderFuzz.parsers(),
                MetadataRecordsFuzz.parsers(),
                MetadataFilesFuzz.parsers(),
                BackupFormatFuzz.parsers(),
                ClusterFuzz.parsers(),
                FolderObjectFuzz.parsers(),
                RemoteFormatFuzz.parsers(),
                ObjectNamesFuzz.parsers(),
                LeaseFuzz.parsers(),
                SsdFormatFuzz.parsers(),
                StreamFuzz.parsers(),
                VolumeTextsFuzz.parsers());
    }

    @ParameterizedTest
    @MethodSource("targets")
    void seedsAndTheirChangesGiveAValueOrTheDeclaredError(ParserSet parsers) {
        assertTrue(parsers.seeds().size() >= 2);
        FuzzInputs.run(parsers);
    }

    @Test
    void controlAParserThatBelievesALengthIsNoticed() {
        ParserSet parsers = new ParserSet().add("gullible", bytes -> fill(new byte[(bytes[0] & 0xff) << 20]));
        parsers.parse(new byte[] {0, 1});
        assertThrows(AssertionError.class, () -> parsers.parse(new byte[] {0, -1}));
    }

    @Test
    void controlAnUndeclaredExceptionIsNoticed() {
        ParserSet parsers = new ParserSet()
                .addDeclaring("gullible", List.of(IOException.class), bytes -> Integer.parseInt("no number"));
        assertThrows(AssertionError.class, () -> FuzzInputs.run(parsers));
    }

    private static void fill(byte[] claimed) {
        Arrays.fill(claimed, (byte) 1);
    }
}
