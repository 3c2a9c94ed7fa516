package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.common.HashChunk;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.heal.HealSource;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.Chunk;
import org.opendedup.sar.hot.FileExplanation.ChunkVisitor;
import org.opendedup.sar.hot.FileExplanation.DiskWork;
import org.opendedup.sar.hot.FileExplanation.Share;
import org.opendedup.sar.hot.FileExplanation.SsdWork;
import org.opendedup.sar.hot.FileExplanation.Verdict;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.hot.policy.HotSettings.Policy;
import org.opendedup.sar.index.DiskIndexUse;
import org.opendedup.sar.index.IndexUse;
import org.opendedup.sar.index.SsdShare;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.metadata.MetadataStore;
import org.opendedup.sar.metadata.db.HeapKeyValueStore;
import org.opendedup.sar.metadata.quota.Quotas;
import org.opendedup.sar.metadata.record.MetadataHeader;
import org.opendedup.sar.scrub.ScrubSource;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.MountService;
import org.opendedup.sar.sdfs.cli.files.FakeFileTools;
import org.opendedup.sar.sdfs.cli.files.FakeTierTools;
import org.opendedup.sar.sdfs.cli.files.FileTools;
import org.opendedup.sar.sdfs.cli.files.TierTools;
import org.opendedup.sar.sdfs.collect.FakeCollector;
import org.opendedup.sar.sdfs.collect.Moves;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.heal.FakeHeal;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.sdfs.health.FakeDamage;
import org.opendedup.sar.sdfs.health.RequestFailures;
import org.opendedup.sar.sdfs.jmx.SarSource;
import org.opendedup.sar.sdfs.jmx.SarWithoutSsd;
import org.opendedup.sar.sdfs.join.FakeJoin;
import org.opendedup.sar.sdfs.scrub.FakeScrub;
import org.opendedup.sar.sdfs.snapshot.FakeSnapshots;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.care.FoundChunk;
import org.opendedup.sar.volume.config.RequestBuffers;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.Evacuation;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.store.DeviceCondition;
import org.opendedup.sar.volume.store.RemoteStatistics;

/** A volume without engine and without FUSE. Records the calls that it gets. */
public final class FakeMountService implements MountService {
    private static final IndexUse INDEX =
            new IndexUse(6400, new DiskIndexUse(8500, 100, 40, 30), new SsdShare(20 << 20, 7 << 20, 9 << 20, 11 << 20));

    static final VolumeStatistics STATISTICS = new VolumeStatistics(
            4000,
            4000,
            2000,
            500,
            1000,
            300,
            250,
            200,
            4,
            1,
            5,
            6,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            15,
            16,
            17,
            18,
            new Quotas.Use(19, 20, 21),
            INDEX);

    /** What happened, in order. Guarded by itself. */
    public final List<String> events = new ArrayList<>();

    /** The SSD of what is mounted next. */
    public SarSource sar =
            new SarWithoutSsd(new HotSettings(false, 0, 5, 128 << 10, true, 1_000_000, Policy.REFERENCE_COUNT));

    /** The collector of what is mounted. */
    public CollectionSource collector = new FakeCollector();

    /** The damage of what is mounted. */
    public FakeDamage damage = new FakeDamage();

    /** What heals it. */
    public HealSource heal = new FakeHeal();

    /** What joins copies in it. */
    public final FakeJoin join = new FakeJoin();

    /** The scrub of what is mounted. */
    public ScrubSource scrub = new FakeScrub();

    /** The file tools of what is mounted. */
    public FileTools files = new FakeFileTools();

    /** The chunks of what is mounted. */
    public List<FoundChunk> chunks = List.of();

    public boolean moreChunks;

    /** The raw files of what is mounted. */
    public FakeTierTools tier = new FakeTierTools();

    /** What {@link MountedVolume#unmount} says when programs use the file system. */
    public volatile boolean busy;

    @Override
    public void checkOptions(String options) {
        if (options.contains("colour")) {
            throw new IllegalArgumentException("mount option 'colour' is not known");
        }
    }

    /** 2 MiB for each of 8 threads, or of as many as the options say. */
    @Override
    public RequestBuffers requestBuffers(String options) {
        int threads = Arrays.stream(options.split(","))
                .filter(option -> option.startsWith("threads="))
                .mapToInt(option -> Integer.parseInt(option.substring("threads=".length())))
                .findFirst()
                .orElse(8);
        return new RequestBuffers(threads, (long) threads * (2 << 20));
    }

    @Override
    public Optional<InetSocketAddress> metricsAddress(String options) {
        return new FuseMountService().metricsAddress(options);
    }

    @Override
    public String statusGroup(String options) {
        return "";
    }

    @Override
    public boolean isReadOnly(String options) {
        return List.of(options.split(",")).contains("ro");
    }

    @Override
    public void remount(Path mountPoint, String options) {
        note("remount " + mountPoint + " " + options);
    }

    @Override
    public MountedVolume mount(VolumeDefinition definition, @Nullable VolumeKeys keys, Path mountPoint, String options)
            throws IOException {
        if (options.contains("noexec")) {
            throw new IOException("the fake volume does not open");
        }
        note("mount " + definition.config().name() + " " + options);
        opening.run();
        return new FakeVolume(sar);
    }

    private void note(String event) {
        synchronized (events) {
            events.add(event);
        }
    }

    /** What the opening of the volume does. */
    public Closing.Step opening = () -> {};

    /** Why what is mounted takes no changes. */
    public volatile @Nullable String stopped;

    /** What closing ends with. */
    public volatile @Nullable IOException closingFailure;

    public volatile @Nullable RemoteStatistics remote;
    /** The condition of what is mounted, but for {@link #stopped}. */
    public volatile VolumeCondition condition = new VolumeCondition(
            null,
            true,
            null,
            List.of(new DeviceCondition("/data", List.of("containers", "metadata"), 60L << 30, 100L << 30, 0)),
            0,
            0,
            0,
            0,
            0,
            false,
            new VolumeCondition.Index(true, false, true, 3, 3, INDEX));

    /** The snapshots of what is mounted. */
    public final FakeSnapshots snapshots = new FakeSnapshots(InstantSource.system());
    /** What happens when the capacity is changed. */
    public volatile Closing.Step whenResized = () -> {};

    /** The failed requests of what is mounted. */
    public final RequestFailures failures = new RequestFailures(System::nanoTime);

    private final class FakeVolume implements MountedVolume {
        private final CountDownLatch ended = new CountDownLatch(1);
        private final SarSource sar;
        private final MetadataBackups backups;

        FakeVolume(SarSource sar) throws IOException {
            this.sar = sar;
            // Without files: a backup fails, and that must not matter.
            MetadataHeader header = new MetadataHeader(UUID.randomUUID(), 256 << 10, 0, MetadataHeader.FORMAT_VERSION);
            Path nowhere = Path.of("/proc/nowhere");
            backups = new MetadataBackups(
                    new VolumeConfig.Locations(nowhere, nowhere, nowhere),
                    null,
                    MetadataStore.format(new HeapKeyValueStore(), header),
                    InstantSource.system(),
                    () -> {});
        }

        @Override
        public SarSource sar() {
            return sar;
        }

        @Override
        public @Nullable RemoteStatistics remote() {
            return remote;
        }

        @Override
        public VolumeCondition condition() {
            VolumeCondition now = condition;
            return new VolumeCondition(
                    stopped,
                    now.resumable(),
                    now.shortage(),
                    now.devices(),
                    now.damagedChunks(),
                    now.healedChunks(),
                    now.damagedFrames(),
                    now.unmarkedFrames(),
                    now.missingContainers(),
                    now.restored(),
                    now.index());
        }

        @Override
        public Latencies latencies() {
            return new Latencies(Map.of(), Map.of());
        }

        @Override
        public RequestFailures failures() {
            return failures;
        }

        @Override
        public @Nullable String stopped() {
            return stopped;
        }

        @Override
        public boolean resume() throws IOException {
            note("resume");
            boolean had = stopped != null;
            if (had && stopped.contains("still")) {
                throw new IOException(stopped);
            }
            stopped = null;
            return had;
        }

        /** A file of 1000 chunks of a kilobyte. */
        @Override
        public FileExplanation explain(String path, long from, ChunkVisitor visitor) throws IOException {
            if (!FakeFileTools.isThere(path)) {
                throw new IOException(path + " is no file of the volume");
            }
            boolean more = true;
            for (long at = from; more && at < 1000 * 1024; at += 1024) {
                more = visitor.accept(
                        new Chunk(at, new HashChunk(65536 + at / 1024, 0, 1024, 7), 4096, Verdict.ON_SSD));
            }
            return new FileExplanation(
                    1000,
                    1000 * 1024,
                    Map.of(Verdict.ON_SSD, new Share(1000, 1000 * 1024)),
                    new DiskWork(100, 3 << 20),
                    new DiskWork(1, 1 << 20),
                    new SsdWork(999, 24, 999 * 1024),
                    0.02);
        }

        @Override
        public Moves moves() {
            return (collector instanceof FakeCollector fake ? fake : new FakeCollector()).moves();
        }

        @Override
        public CollectionSource collector() {
            return collector;
        }

        @Override
        public DamageSource damage() {
            return damage;
        }

        @Override
        public ScrubSource scrub() {
            return scrub;
        }

        @Override
        public JoinSource joins() {
            return join;
        }

        @Override
        public HealSource heal() {
            return heal;
        }

        @Override
        public SnapshotSource snapshots() {
            return snapshots;
        }

        @Override
        public MetadataBackups backups() {
            return backups;
        }

        @Override
        public ChunkSearch.Found findChunks(String digits) {
            return new ChunkSearch.Found(
                    chunks.stream()
                            .filter(chunk -> chunk.fingerprint().startsWith(digits))
                            .toList(),
                    moreChunks);
        }

        @Override
        public TierTools tier() {
            return tier;
        }

        @Override
        public FileTools files() {
            return files;
        }

        @Override
        public VolumeStatistics statistics() {
            return STATISTICS;
        }

        @Override
        public void addDataLocation(Path folder) {
            note("location " + folder);
        }

        @Override
        public void whenLeft(Evacuation.Forgetting forgetting) {}

        @Override
        public void resize(long capacityBytes, int usersPercent) throws IOException {
            note("resize " + capacityBytes + " " + usersPercent);
            whenResized.run();
        }

        @Override
        public SpaceUse space() {
            return new SpaceUse(10_000, 6_000, 3_000, 3_000, 6);
        }

        @Override
        public void awaitEnd() throws InterruptedException {
            ended.await();
        }

        @Override
        public void unmount() throws IOException {
            if (busy) {
                throw new IOException("the mount is busy");
            }
            endMount();
        }

        @Override
        public void sync() {}

        @Override
        public void endMount() {
            note("unmount");
            ended.countDown();
        }

        @Override
        public void close() throws IOException {
            note("close");
            IOException failure = closingFailure;
            if (failure != null) {
                throw failure;
            }
        }
    }
}
