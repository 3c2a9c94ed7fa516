package org.opendedup.sar.sdfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.sdfs.cli.command.RunningDaemon;
import org.opendedup.sar.sdfs.cli.control.FakeMountService;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.health.FakeDamage;
import org.opendedup.sar.volume.care.DamageReport;
import org.opendedup.sar.volume.care.DamageReport.DamagedRange;
import org.opendedup.sar.volume.care.DamageReport.Fault;
import org.opendedup.sar.volume.care.DamageReport.FileDamage;

/** {@code sdfscli VOLUME damaged} against a daemon without engine. */
@Timeout(60)
class DamagedCommandTest {
    private static final Fault FRAME =
            new Fault("", 7, 0, 10, new DamageNote(3, DamageNote.How.SCRUB, 1_700_000_000_000L, "bad checksum"));

    @TempDir
    Path folder;

    private final FakeMountService service = new FakeMountService();
    private final FakeDamage damage = new FakeDamage();
    private RunningDaemon daemon;

    @BeforeEach
    void mount() throws Exception {
        service.damage = damage;
        daemon = new RunningDaemon(folder, service);
    }

    @AfterEach
    void unmount() throws Exception {
        daemon.close();
    }

    @Test
    void aVolumeWithoutDamageExitsWithZero() {
        assertEquals(0, daemon.cli("damaged"), daemon.err());
        daemon.shows("no damage is known");
    }

    @Test
    void filesThatTheFastTierHasLostAreToldAsWell() throws Exception {
        service.tier.fast.lostFiles = 2;
        assertEquals(2, daemon.cli("damaged"), daemon.err());
        daemon.shows("no damage in chunks is known");
        daemon.shows("of 2 files all bytes are lost");
        daemon.shows("sdfscli pool0 tier status");
        assertEquals(2, daemon.cli("damaged", "--json"), daemon.err());
        assertEquals(2, Json.number(Json.read(daemon.out()), "lostFiles"));
    }

    @Test
    void aDamagedFileHasItsNamesRangesAndFaults() throws Exception {
        var ranges = List.of(new DamagedRange(0, 100, 0), new DamagedRange(100, 150, 0), new DamagedRange(200, 250, 0));
        var file = new FileDamage(12, List.of("/a\nb", "/c"), ranges, 200, 0);
        damage.report = new DamageReport(List.of(FRAME), List.of(file), 0, 200, 0);
        assertEquals(2, daemon.cli("damaged"), daemon.err());
        for (String part :
                List.of("/a\\u000ab = /c: 200 bytes: 0-149, 200-249", "frame 3 of container 7", "a scrub: bad")) {
            assertTrue(daemon.out().contains(part), () -> part + " is not in\n" + daemon.out());
        }
        assertEquals(2, daemon.cli("damaged", "--json"), daemon.err());
        Map<String, Object> json = Json.read(daemon.out());
        assertEquals(200, Json.number(Json.object(json, "totals"), "bytes"));
        assertEquals(List.of("/a\nb", "/c"), Json.objects(json, "files").get(0).get("paths"));
    }

    @Test
    void moreThanAMessageHoldsArrivesWhole() throws Exception {
        List<FileDamage> files = new ArrayList<>();
        for (int inode = 0; inode < 300; inode++) {
            List<DamagedRange> ranges = new ArrayList<>();
            for (int range = 0; range < 20; range++) {
                ranges.add(new DamagedRange(range * 100, range * 100 + 50, 0));
            }
            files.add(new FileDamage(inode, List.of("/" + "x".repeat(200) + inode), ranges, 1000, 0));
        }
        damage.report = new DamageReport(List.of(FRAME), files, 0, 300_000, 0);
        assertEquals(2, daemon.cli("damaged", "--json"), daemon.err());
        List<Map<String, Object>> all = Json.objects(Json.read(daemon.out()), "files");
        assertEquals(300, all.size());
        for (Map<String, Object> file : all) {
            assertEquals(20, Json.objects(file, "ranges").size());
        }
    }
}
