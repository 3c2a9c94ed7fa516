package org.opendedup.sar.sdfs.health;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.hot.SsdState;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.metadata.record.ScrubTotals;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.cli.control.PluginCommands;
import org.opendedup.sar.sdfs.health.RequestFailures.Counts;
import org.opendedup.sar.sdfs.health.RequestFailures.Kind;
import org.opendedup.sar.sdfs.scrub.FakeScrub;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.engine.VolumeCondition.Index;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.store.DeviceCondition;

/** The table of decisions about a volume's health. */
class HealthRulesTest {
    private static Arguments row(String name, Health health, String finding, String command, Consumer<Facts> change) {
        return arguments(name, health, finding, command, change);
    }

    private static DeviceCondition location(String state) {
        return new DeviceCondition("/more", List.of("containers"), 50L << 30, 100L << 30, 0, state);
    }

    private static DeviceCondition device(long usable, long total, long missingBallast) {
        return new DeviceCondition("/data", List.of("containers"), usable, total, missingBallast);
    }

    private static FastTier.Summary fastTier(long capacityBytes, @Nullable String absent, long files) {
        RawSettings settings = new RawSettings(Placement.SAR, capacityBytes, 85, 70, 0);
        return new FastTier.Summary(settings, absent, null, files, 0, files * 1000);
    }

    private static FastTier.Summary hangingTier() {
        RawSettings settings = new RawSettings(Placement.TDDFS, 1 << 30, 85, 70, 0);
        return new FastTier.Summary(settings, null, "making files durable has taken 40 s", 3, 0, 3000);
    }

    private static Counts failed(Duration ago) {
        return new Counts(1, 0, 0, 0, ago, false);
    }

    private static ScrubFacts scrub(
            boolean scheduled, boolean running, int days, long contradictions, @Nullable String failure) {
        ScrubTotals found = FakeScrub.found(0, 0, contradictions);
        return new ScrubFacts(scheduled, running, Facts.NOW.minus(Duration.ofDays(days)), found, failure);
    }

    private static ScrubFacts sampled(long wrong, long stale) {
        ScrubTotals found = ScrubTotals.NONE.with(new ScrubTotals.Index(4096, wrong, stale, 0, 0, false));
        return new ScrubFacts(true, false, Facts.NOW, found, null);
    }

    static Stream<Arguments> rows() {
        Health well = Health.WELL;
        Health degraded = Health.DEGRADED;
        Health damaged = Health.DAMAGED;
        return Stream.of(
                row("nothing", well, "", "", facts -> {}),
                row("a failed write", degraded, "read-only", "sdfscli pool0 resume", facts -> facts.stopped = "EIO"),
                row("a lost write", damaged, "read-only-for-good", "sdfscli pool0 unmount", facts -> {
                    facts.stopped = "EIO";
                    facts.resumable = false;
                }),
                row(
                        "one copy of the key header",
                        degraded,
                        "key-header",
                        "sdfscli pool0 key test",
                        facts -> facts.keyHeaderFaults = List.of("/data/volume.keys: it is missing")),
                row("a lossy end", degraded, "lost-at-last-end", "", facts -> facts.lostAtLastEnd = "lost: 1 file"),
                row("no space", degraded, "no-space", "sdfscli pool0 gc --wait", facts -> facts.shortage = "full"),
                row(
                        "little space",
                        degraded,
                        "nearly-full",
                        "sdfscli pool0 gc --wait",
                        facts -> facts.device = device((10L << 30) - 1, 1L << 40, 0)),
                row(
                        "a data location whose disk is gone",
                        degraded,
                        "data-location-missing",
                        "sdfscli pool0 damaged",
                        facts -> facts.device = location(DeviceCondition.MISSING)),
                row(
                        "a data location that takes no containers",
                        degraded,
                        "data-location-refuses",
                        "sdfscli pool0 damaged",
                        facts -> facts.device = location("Read-only file system")),
                row(
                        "a data location that is left",
                        well,
                        "",
                        "",
                        facts -> facts.device = location(DeviceCondition.LEAVING)),
                row(
                        "an absent fast tier with files",
                        degraded,
                        "fast-tier-absent",
                        "sdfscli pool0 tier attach",
                        facts -> facts.fastTier = fastTier(0, "no disk", 2)),
                row(
                        "an absent fast tier",
                        degraded,
                        "fast-tier-absent",
                        "sdfscli pool0 tier attach",
                        facts -> facts.fastTier = fastTier(1 << 30, "no disk", 0)),
                row(
                        "a fast tier that hangs",
                        degraded,
                        "fast-tier-hangs",
                        "sdfscli pool0 tier status",
                        facts -> facts.fastTier = hangingTier()),
                row("no fast tier", well, "", "", facts -> facts.fastTier = fastTier(0, "the volume has none", 0)),
                row("a fast tier in use", well, "", "", facts -> facts.fastTier = fastTier(1 << 30, null, 9)),
                row("lost raw files", damaged, "raw-files-lost", "sdfscli pool0 tier status", facts -> {
                    facts.fastTier = fastTier(1 << 30, null, 9);
                    facts.lostFiles = 1;
                }),
                row("10 GiB left", well, "", "", facts -> facts.device = device(10L << 30, 1L << 40, 0)),
                row("a small device", well, "", "", facts -> facts.device = device(5L << 30, 50L << 30, 0)),
                row(
                        "9.9 % left",
                        degraded,
                        "nearly-full",
                        "sdfscli pool0 gc --wait",
                        facts -> facts.device = device((5L << 30) - 1, 50L << 30, 0)),
                row(
                        "a ballast to be made",
                        well,
                        "",
                        "",
                        facts -> facts.device = device(128L << 20, 1 << 30, 64 << 20)),
                row(
                        "a ballast used",
                        degraded,
                        "ballast-used",
                        "sdfscli pool0 gc --wait",
                        facts -> facts.device = device((128L << 20) - 1, 1 << 30, 64 << 20)),
                row(
                        "the capacity",
                        degraded,
                        "volume-full",
                        "sdfscli pool0 df",
                        facts -> facts.space = new SpaceUse(100, 5, 0, 1 << 30, 7)),
                row("an SSD", well, "", "", facts -> facts.ssd = SsdState.ONLINE),
                row(
                        "a slow SSD",
                        degraded,
                        "ssd-suspended",
                        "sdfscli pool0 sar status",
                        facts -> facts.ssd = SsdState.SUSPENDED),
                row(
                        "a worn SSD",
                        degraded,
                        "ssd-read-only",
                        "sdfscli pool0 sar attach",
                        facts -> facts.ssd = SsdState.READ_ONLY),
                row(
                        "a failed SSD",
                        degraded,
                        "ssd-failed",
                        "sdfscli pool0 sar attach",
                        facts -> facts.ssd = SsdState.FAILED),
                row(
                        "a lost SSD",
                        degraded,
                        "ssd-lost",
                        "sdfscli pool0 sar attach",
                        facts -> facts.ssd = SsdState.DETACHED),
                row("a detached SSD", well, "", "", facts -> {
                    facts.ssd = SsdState.DETACHED;
                    facts.ssdDetachedOnRequest = true;
                }),
                row(
                        "damage",
                        damaged,
                        "damaged-chunks",
                        "sdfscli pool0 damaged; sdfscli pool0 heal --wait",
                        facts -> facts.damagedChunks = 3),
                row(
                        "unreadable directories",
                        damaged,
                        "unreadable-containers",
                        "sdfscli pool0 damaged",
                        facts -> facts.unmarkedFrames = 1),
                row(
                        "missing containers",
                        damaged,
                        "missing-containers",
                        "sdfscli pool0 damaged",
                        facts -> facts.missingContainers = 1),
                row("no scrub for 92 days", well, "", "", facts -> facts.scrub = scrub(true, false, 92, 0, null)),
                row(
                        "no scrub for longer",
                        degraded,
                        "scrub-late",
                        "sdfscli pool0 scrub start --wait",
                        facts -> facts.scrub = scrub(true, false, 93, 0, null)),
                row("one at last", well, "", "", facts -> facts.scrub = scrub(true, true, 93, 0, null)),
                row("none wanted", well, "", "", facts -> facts.scrub = scrub(false, false, 93, 0, null)),
                row(
                        "a contradiction",
                        degraded,
                        "scrub-found",
                        "grep -a 'the scrub' /base/log/pool0.log",
                        facts -> facts.scrub = scrub(true, false, 1, 1, null)),
                row(
                        "an entry of the index that named other content",
                        degraded,
                        "scrub-index",
                        "sdfscli pool0 unmount && find '/hash db' -mindepth 1 -delete",
                        facts -> facts.scrub = sampled(1, 0)),
                row(
                        "wrong references",
                        degraded,
                        "scrub-references",
                        "sdfscli pool0 check",
                        facts -> facts.scrub = new ScrubFacts(
                                true,
                                false,
                                Facts.NOW,
                                ScrubTotals.NONE.with(new ScrubTotals.References(1, 0, false)),
                                null)),
                row("some stale entries", well, "", "", facts -> facts.scrub = sampled(0, 64)),
                row(
                        "many stale entries",
                        degraded,
                        "scrub-index",
                        "sdfscli pool0 unmount && find '/hash db' -mindepth 1 -delete",
                        facts -> facts.scrub = sampled(0, 65)),
                row(
                        "a failed scrub",
                        degraded,
                        "scrub-failed",
                        "sdfscli pool0 scrub start --wait",
                        facts -> facts.scrub = scrub(true, false, 1, 0, "EIO")),
                row(
                        "an index at work",
                        well,
                        "",
                        "",
                        facts -> facts.index = new Index(true, true, false, 2, 9, IndexUse.UNKNOWN)),
                row(
                        "no index",
                        degraded,
                        "index",
                        "grep -a index /base/log/pool0.log",
                        facts -> facts.index = new Index(false, false, false, 0, 9, IndexUse.UNKNOWN)),
                row(
                        "half an index",
                        degraded,
                        "index",
                        "grep -a index /base/log/pool0.log",
                        facts -> facts.index = new Index(true, false, false, 2, 9, IndexUse.UNKNOWN)),
                row(
                        "a damaged backup of the metadata",
                        degraded,
                        "metadata-backups",
                        "sdfscli pool0 metadata-backup --list",
                        facts -> facts.backups = new MetadataBackups.Condition(List.of("one", "two"), null)),
                row(
                        "metadata that could not be backed up",
                        degraded,
                        "metadata-backup-failed",
                        "sdfscli pool0 metadata-backup --list",
                        facts -> facts.backups = new MetadataBackups.Condition(List.of(), "EIO")),
                row(
                        "restored metadata",
                        degraded,
                        "restored",
                        "sdfscli pool0 metadata-backup --accept-restored",
                        facts -> facts.restored = true),
                row(
                        "no collection",
                        degraded,
                        "collection-due",
                        "sdfscli pool0 gc --wait",
                        facts -> facts.collectionDue = Facts.NOW.minus(Duration.ofHours(25))),
                row(
                        "no snapshot",
                        degraded,
                        "snapshot-due",
                        "sdfscli pool0 snapshot create",
                        facts -> facts.snapshotDue = Facts.NOW.minus(Duration.ofHours(25))),
                row("a store that has nearly all", well, "", "", facts -> facts.remote = Facts.store(119_000, 0, null)),
                row(
                        "a store that does not answer",
                        degraded,
                        "object-store-silent",
                        "sdfscli pool0 stats",
                        facts -> facts.remote = Facts.store(0, 7, "no answer")),
                row(
                        "a store that takes nothing",
                        degraded,
                        "object-store-refuses",
                        "sdfscli pool0 stats",
                        facts -> facts.remote = Facts.store(0, 0, "access denied")),
                row(
                        "a store that lags",
                        degraded,
                        "object-store-lags",
                        "sdfscli pool0 stats",
                        facts -> facts.remote = Facts.store(121_000, 0, null)),
                row(
                        "a reader that was taken for dead",
                        degraded,
                        "reader-lost",
                        "sdfscli pool0 unmount",
                        facts -> facts.remote = Facts.reading(true)),
                row(
                        "a collection",
                        degraded,
                        "collection-failed",
                        "sdfscli pool0 gc --wait",
                        facts -> facts.collectionFailure = "EIO"),
                row(
                        "a failed read",
                        degraded,
                        "failed-requests",
                        "grep -a ERROR /base/log/pool0.log",
                        facts -> facts.failures = failed(Duration.ofMinutes(59))),
                row(
                        "a read that met damage of no chunk, long ago",
                        damaged,
                        "damaged-metadata",
                        "sdfscli pool0 check",
                        facts -> facts.failures = new Counts(1, 0, 0, 0, Duration.ofHours(5), true)),
                row("one of long ago", well, "", "", facts -> facts.failures = failed(Duration.ofMinutes(60))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void eachFactAloneDecides(String name, Health health, String finding, String command, Consumer<Facts> change) {
        var facts = new Facts();
        change.accept(facts);
        List<Finding> findings = HealthRules.findings(facts.facts());
        assertEquals(health, Finding.healthOf(findings), findings::toString);
        assertEquals(health.ordinal(), health.exitCode());
        assertEquals(
                finding.isEmpty() ? List.of() : List.of(finding),
                findings.stream().map(Finding::id).toList());
        for (Finding found : findings) {
            assertEquals(command, found.command());
            assertFalse(found.what().endsWith(".") || found.remedy().endsWith("."), found::line);
        }
    }

    @Test
    void containersThatOlderMetadataMissAreLookedForInThePacks() {
        var facts = new Facts();
        facts.missingContainers = 1;
        assertFalse(HealthRules.findings(facts.facts()).get(0).remedy().contains("--rebuild-containers"));
        facts.restored = true;
        assertTrue(HealthRules.findings(facts.facts()).get(0).remedy().contains("--rebuild-containers"));
    }

    private static List<Finding> findingsOfPlugin(Facts facts, boolean answersCommands) {
        return StoreRules.findings(
                facts.facts().store(),
                new PluginRemedies("pool0", "bean0", facts.facts().hashDb(), () -> answersCommands));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theRemediesOfChunksWithoutFilesNameCommandsThatTheirProcessAnswers(
            String name, Health health, String finding, String command, Consumer<Facts> change) {
        var facts = new Facts();
        change.accept(facts);
        List<Finding> findings = findingsOfPlugin(facts, true);
        for (Finding found : findings) {
            assertFalse(found.command().isEmpty(), found::line);
            Matcher named = Pattern.compile("sdfscli (\\S+) (\\S+) ?(\\w*)").matcher(found.line());
            boolean isNamed = false;
            while (named.find()) {
                isNamed = true;
                assertEquals("pool0", named.group(1));
                assertTrue(PluginCommands.has(named.group(2), Map.of("action", named.group(3))), found::line);
            }
            boolean hasCommand = command.startsWith("sdfscli pool0 ")
                    && !command.contains("unmount")
                    && !command.equals("sdfscli pool0 damaged");
            assertEquals(hasCommand, isNamed, found::line);
        }
        boolean isOfStore = HealthRules.findings(facts.facts()).stream()
                .map(Finding::id)
                .anyMatch(id -> findings.stream().anyMatch(found -> found.id().equals(id)));
        assertEquals(!findings.isEmpty(), isOfStore, "the same findings, unless they are about files");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theyNameBeansIfTheProcessAnswersNoCommand(
            String name, Health health, String finding, String command, Consumer<Facts> change) {
        var facts = new Facts();
        change.accept(facts);
        for (Finding found : findingsOfPlugin(facts, false)) {
            // The commands for keys ask no process.
            assertEquals(found.id().equals("key-header"), found.line().contains("sdfscli"), found::line);
            assertFalse(found.command().isEmpty(), found::line);
            assertTrue(!found.line().contains("volume=") || found.line().contains("volume=bean0"), found::line);
        }
    }

    /** The daemon has the keys, and nobody else. */
    @Test
    void aMountWithoutAKeyHeaderIsNotToBeUnmounted() {
        var facts = new Facts();
        facts.keyHeaderFaults = List.of("/data/volume.keys: it is missing; /metadata/volume.keys: it is missing");
        String line = findingsOfPlugin(facts, true).get(0).line();
        assertTrue(line.contains("do not unmount yet"), line);
        assertTrue(line.contains("key add --from-export=FILE"), line);
    }

    @Test
    void theWorstIsFirstAndDecides() {
        var facts = new Facts();
        facts.stopped = "EIO";
        facts.damagedChunks = 1;
        facts.failures = new Counts(1, 0, 0, 0, Duration.ZERO, true);
        List<Finding> findings = HealthRules.findings(facts.facts());
        assertEquals(
                List.of("damaged-chunks", "read-only"),
                findings.stream().map(Finding::id).toList(),
                "failed requests that other findings explain are none of their own");
        assertEquals(Health.DAMAGED, Finding.healthOf(findings));
    }

    @Test
    void aFailureIsCountedByKindAndARefusalIsNone() {
        var nanos = new AtomicLong(Long.MAX_VALUE);
        var failures = new RequestFailures(nanos::get);
        failures.note(Kind.READ, new PosixException(PosixException.Reason.ENOENT, "a refusal"));
        assertEquals(Counts.NONE, failures.counts());
        failures.note(Kind.WRITE, new NoSpaceException("full"));
        assertEquals(new Counts(0, 0, 0, 1, null, false), failures.counts());
        failures.note(Kind.READ, new IOException("bad"));
        failures.note(Kind.WRITE, new IOException("bad"));
        failures.note(Kind.SYNC, new IllegalStateException("bad"));
        failures.note(Kind.SYNC, new PosixException(PosixException.Reason.EIO, "bad"));
        // The clock passes the end of its numbers.
        nanos.addAndGet(Duration.ofMinutes(59).toNanos());
        assertEquals(new Counts(1, 1, 2, 1, Duration.ofMinutes(59), false), failures.counts());
        failures.settle();
        assertEquals(new Counts(1, 1, 2, 1, null, false), failures.counts());
    }

    /** After a complete healing there is nothing to do. */
    @Test
    void failuresByDamageAreSettledWhenNoDamageIsLeft() {
        var nanos = new AtomicLong();
        var failures = new RequestFailures(nanos::get);
        failures.note(Kind.READ, new IOException("bad"));
        nanos.addAndGet(Duration.ofMinutes(10).toNanos());
        failures.note(Kind.READ, new CorruptionException("a pack", 0, "a frame", "another"));
        assertEquals(Duration.ZERO, failures.counts().lastAge());
        assertTrue(failures.counts().metDamage());
        failures.settleDamage();
        assertEquals(Duration.ofMinutes(10), failures.counts().lastAge(), "the control: a disk failed, too");
        failures.settle();
        assertEquals(new Counts(2, 0, 0, 0, null, false), failures.counts());
    }

    @Test
    void eachChangeIsReportedOnce() throws IOException {
        var facts = new Facts();
        var heard = new ArrayList<Health>();
        try (var watch = new HealthWatch<>(facts::facts, HealthRules::findings)) {
            watch.listen(judgement -> heard.add(judgement.health()));
            assertEquals(Health.WELL, watch.judge().health());
            facts.stopped = "EIO";
            assertEquals(Health.DEGRADED, watch.judge().health());
            assertEquals(Health.DEGRADED, watch.judge().health());
            facts.stopped = null;
            assertTrue(watch.judge().findings().isEmpty());
        }
        assertEquals(List.of(Health.DEGRADED, Health.WELL), heard);
    }
}
