package org.opendedup.sar.sdfs.cli.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the commands of OpenDedup's sdfscli. */
class CliSpellingsTest {
    private final List<String> notes = new ArrayList<>();
    private List<String> volumes = List.of("pool0");

    private List<String> translated(String line) {
        return CliSpellings.translated(List.of(line.split(" ")), () -> volumes, notes::add);
    }

    private String refused(String line) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> translated(line))
                .getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--list",
                "--list --json",
                "pool0 info --json",
                "pool0 file /mnt/a --json",
                "pool0 sar set --lru-entries 5",
                "file info",
                "config",
                "--help"
            })
    void ourOwnSpellingsStayAsTheyAre(String line) {
        assertEquals(List.of(line.split(" ")), translated(line));
    }

    @ParameterizedTest
    @CsvSource({
        "--volume-info, pool0 info",
        "--dse-info, pool0 stats",
        "--dse-info --json, pool0 stats --json",
        "--file-info --file-path=/mnt/a, pool0 file /mnt/a",
        "--file-info --file-path /mnt/a --json, pool0 file /mnt/a --json",
        "--cleanstore=5, pool0 gc",
        "--cleanstore 5, pool0 gc",
        "config -volume, pool0 info",
        "config -dse, pool0 stats",
        "file -file-info -file-path=/mnt/a, pool0 file /mnt/a",
        "--volume-info other, other info"
    })
    void theirCommandsAreOurs(String theirs, String ours) {
        assertEquals(List.of(ours.split(" ")), translated(theirs));
    }

    @Test
    void theConnectionIsLeftOutWithANote() {
        assertEquals(List.of("pool0", "info"), translated("--volume-info --port 6443 --nossl --password=secret"));
        assertEquals(3, notes.size(), notes::toString);
        assertTrue(!notes.toString().contains("secret"), notes::toString);
    }

    @Test
    void theAgeOfWhatIsRemovedIsLeftOutWithANote() {
        assertEquals(List.of("pool0", "gc"), translated("--cleanstore=10"));
        assertTrue(notes.toString().contains("minutes have no effect"), notes::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--expandvolume 2TB", "--expandvolume=2TB", "config -expand 2TB"})
    void aVolumeGrows(String theirs) {
        assertEquals(List.of("pool0", "set", "--capacity=2TB"), translated(theirs));
    }

    @Test
    void aVolumeThatGrowsNeedsASize() {
        assertTrue(refused("--expandvolume").contains("names no size"));
    }

    @Test
    void theVolumeMustBeKnown() {
        volumes = List.of();
        assertTrue(refused("--volume-info").contains("there is none"));
        volumes = List.of("a", "b");
        assertTrue(refused("--volume-info").contains("there are several: a, b; use 'sdfscli VOLUME info'"));
        assertEquals(List.of("b", "info"), translated("--volume-info b"));
    }

    @ParameterizedTest
    @CsvSource({
        "--snapshot --file-path=a --snapshot-path=b, clone SOURCE COPY",
        "file -snapshot -file-path=a, snapshot create",
        "--flush-all-buffers, sync"
    })
    void whatIsNotSupportedIsRefusedWithTheWayOut(String theirs, String way) {
        assertTrue(refused(theirs).contains(way));
    }
}
