package org.opendedup.sar.sim.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DriftingSeriesTest {
    private static final SeriesParameters PARAMETERS = new SeriesParameters(4, 20_000, 20, 0.1, 0.05, 0.05, 0.2, 7);

    @Test
    void theSameParametersMakeTheSameSeries() throws IOException {
        assertEquals(versions(PARAMETERS), versions(PARAMETERS));
        assertNotEquals(versions(PARAMETERS), versions(new SeriesParameters(4, 20_000, 20, 0.1, 0.05, 0.05, 0.2, 8)));
    }

    @Test
    void versionsDriftAsMuchAsWasAskedFor() throws IOException {
        List<List<Long>> versions = versions(PARAMETERS);
        assertEquals(20_000, versions.get(0).size());
        Set<Long> seen = new HashSet<>(versions.get(0));
        assertEquals(0.8, seen.size() / 20_000.0, 0.05);
        for (List<Long> version : versions.subList(1, 4)) {
            long fresh = version.stream().filter(seen::add).count();
            // Changed and added runs, but for the fifth of them that repeats what was there.
            assertEquals(0.15 * 0.8, (double) fresh / version.size(), 0.03);
        }
    }

    @Test
    void aSeriesWithoutDriftRepeatsItself() throws IOException {
        List<List<Long>> versions = versions(new SeriesParameters(3, 100, 5, 0, 0, 0, 0, 1));
        assertEquals(versions.get(0), versions.get(1));
        assertEquals(versions.get(0), versions.get(2));
    }

    @Test
    void parametersOutOfRangeAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> new SeriesParameters(0, 1, 1, 0, 0, 0, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new SeriesParameters(1, 1, 1, 1.1, 0, 0, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new SeriesParameters(1, 1, 1, 0.6, 0, 0.6, 0, 1));
    }

    /** Fingerprints, by version. */
    private static List<List<Long>> versions(SeriesParameters parameters) throws IOException {
        List<List<Long>> versions = new ArrayList<>();
        DriftingSeries.emit(parameters, new ChunkTraceVisitor() {
            @Override
            public void version(int number) {
                versions.add(new ArrayList<>());
            }

            @Override
            public void chunk(long fingerprint, int bytes) {
                versions.get(versions.size() - 1).add(fingerprint);
            }
        });
        return versions;
    }
}
