package org.opendedup.sar.sdfs.cli.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of the options of OpenDedup's mount.sdfs, and of the mount options that its users pass. */
class MountSpellingsTest {
    private final List<String> notes = new ArrayList<>();

    private List<String> translated(String line) {
        return MountSpellings.translated(List.of(line.split(" ")), notes::add);
    }

    @Test
    void ourOwnSpellingsStayAsTheyAre() {
        for (String line : List.of("pool0 /mnt -f", "pool0 /mnt -o ro,noatime -v", "-h", "pool0 /mnt -n -s")) {
            assertEquals(List.of(line.split(" ")), translated(line));
        }
        assertEquals(List.of(), notes);
    }

    @Test
    void volumeAndMountPointAreTakenFromTheirOptions() {
        assertEquals(List.of("pool0", "/mnt"), translated("-v pool0 -m /mnt"));
        assertEquals(List.of("-o", "ro", "pool0", "/mnt"), translated("-o ro -m /mnt -v pool0"));
        assertEquals(List.of(), notes);
    }

    @Test
    void optionsWithoutAMeaningAreLeftOutWithANote() {
        assertEquals(List.of("pool0", "/mnt"), translated("-p 6442 -v pool0 -m /mnt -s -q -b /opt/x"));
        assertEquals(4, notes.size(), notes::toString);
    }

    @Test
    void mountOptionsWithoutAMeaningAreLeftOutWithANote() {
        assertEquals(
                List.of("pool0", "/mnt", "-o", "ro,allow_other"),
                translated("pool0 /mnt -o direct_io,ro,big_writes,nonempty,allow_other,fsname=SDFS"));
        assertEquals(4, notes.size(), notes::toString);
        assertTrue(notes.get(0).contains("'direct_io'"), notes::toString);
        assertEquals(List.of("pool0", "/mnt"), translated("pool0 /mnt -o direct_io"));
    }

    @Test
    void otherMountOptionsAreLeftToTheProgram() {
        assertEquals(List.of("pool0", "/mnt", "-o", "direct"), translated("pool0 /mnt -o direct"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-e secret", "-j SECRET", "-r", "-w", "-n", "-l", "-f /etc/sdfs/pool0-volume-cfg.xml"})
    void whatIsNotSupportedIsRefused(String option) {
        assertThrows(IllegalArgumentException.class, () -> translated("-v pool0 -m /mnt " + option));
    }

    @Test
    void anOptionWithoutItsValueIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> translated("-v pool0 -m"));
    }
}
