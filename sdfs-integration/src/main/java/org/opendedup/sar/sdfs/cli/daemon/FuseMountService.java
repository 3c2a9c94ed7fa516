package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.collect.CollectionSource;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.heal.HealSource;
import org.opendedup.sar.hot.FileExplainer;
import org.opendedup.sar.hot.FileExplanation;
import org.opendedup.sar.hot.FileExplanation.ChunkVisitor;
import org.opendedup.sar.hot.policy.HotSettings;
import org.opendedup.sar.join.JoinSource;
import org.opendedup.sar.objects.lease.LeaseKeeper;
import org.opendedup.sar.objects.lease.LeaseStatus;
import org.opendedup.sar.scrub.ScrubSource;
import org.opendedup.sar.sdfs.cli.command.CallingUser;
import org.opendedup.sar.sdfs.cli.files.FileTools;
import org.opendedup.sar.sdfs.cli.files.ServedPaths;
import org.opendedup.sar.sdfs.cli.files.ServedSnapshots;
import org.opendedup.sar.sdfs.cli.files.TierTools;
import org.opendedup.sar.sdfs.cli.files.VolumePaths;
import org.opendedup.sar.sdfs.collect.Moves;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.RequestLatencies;
import org.opendedup.sar.sdfs.fuse.kernel.KernelMount;
import org.opendedup.sar.sdfs.health.DamageSource;
import org.opendedup.sar.sdfs.health.RequestFailures;
import org.opendedup.sar.sdfs.jmx.SarOfVolume;
import org.opendedup.sar.sdfs.jmx.SarSource;
import org.opendedup.sar.sdfs.jmx.SarWithoutSsd;
import org.opendedup.sar.sdfs.keys.VolumeKeyHeader;
import org.opendedup.sar.sdfs.snapshot.SnapshotSource;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeMaintenance;
import org.opendedup.sar.volume.backup.MetadataBackups;
import org.opendedup.sar.volume.care.ChunkSearch;
import org.opendedup.sar.volume.config.RequestBuffers;
import org.opendedup.sar.volume.config.Verification;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.engine.Evacuation;
import org.opendedup.sar.volume.engine.VolumeCondition;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.parts.VolumeStatistics;
import org.opendedup.sar.volume.store.RemoteStatistics;

/** Serves volumes through the kernel's FUSE. */
public final class FuseMountService implements MountService {
    @Override
    public void checkOptions(String options) {
        ServiceOptions chosen = ServiceOptions.parse(options);
        MountOptions.of(Path.of("/"), "").with(chosen.mountOptions());
    }

    @Override
    public RequestBuffers requestBuffers(String options) {
        return requestBuffersOf(options);
    }

    public static RequestBuffers requestBuffersOf(String options) {
        ServiceOptions chosen = ServiceOptions.parse(options);
        MountOptions mountOptions = MountOptions.of(Path.of("/"), "").with(chosen.mountOptions());
        return new RequestBuffers(mountOptions.threads(), KernelMount.bufferBytes(mountOptions));
    }

    @Override
    public boolean isReadOnly(String options) {
        return MountOptions.of(Path.of("/"), "")
                .with(ServiceOptions.parse(options).mountOptions())
                .readOnly();
    }

    @Override
    public void remount(Path mountPoint, String options) throws IOException {
        KernelMount.remount(MountOptions.of(mountPoint, "none")
                .with(ServiceOptions.parse(options).mountOptions()));
    }

    @Override
    public MountedVolume mount(VolumeDefinition definition, @Nullable VolumeKeys keys, Path mountPoint, String options)
            throws IOException {
        VolumeConfig config = definition.engineConfig().withKeys(keys).withRequests(requestBuffersOf(options));
        ServiceOptions chosen = ServiceOptions.parse(options);
        MountOptions mountOptions = MountOptions.of(mountPoint, config.name())
                .with(CallingUser.isRoot() ? "allow_other" : "")
                .with(config.raw().placement().isRaw() ? "passthrough" : "")
                .with(chosen.mountOptions())
                // The kernel would read and write encrypted bytes.
                .with(keys == null ? "" : "nopassthrough");
        Volume volume = mountOptions.readOnly()
                ? Volume.openReadOnly(config, chosen.verification())
                : Volume.open(config, chosen.verification());
        try {
            var failures = new RequestFailures(System::nanoTime);
            var fileSystem = new FuseFileSystem(volume, mountOptions, failures);
            KernelMount mount = KernelMount.mount(fileSystem, mountOptions);
            LeaseKeeper lease = volume.lease();
            if (lease != null) {
                lease.listen(new LeaseEnd(mount, fileSystem));
            }
            SarSource sar = volume.hot().isConfigured()
                    ? new SarOfVolume(volume.hot())
                    : new SarWithoutSsd(definition.sar().hot());
            VolumeMaintenance care = volume.maintenance();
            return new FuseMountedVolume(
                    volume,
                    mount,
                    failures,
                    fileSystem.latencies(),
                    sar,
                    volume.collector(),
                    new Moves((limits, progress) -> care.arrange(limits, null, progress), care.join()),
                    care.scrub(),
                    care.heal(),
                    care.join(),
                    new DamageSource(care.damage(), failures::settleDamage),
                    new ServedSnapshots(volume.snapshots(), care.snapshotDiff(), cacheOf(mount)),
                    care.backups(),
                    new TierTools(volume, cacheOf(mount)),
                    new FileTools(
                            volume,
                            cacheOf(mount),
                            () -> sar.status().settings(),
                            config.restore().cache().toString(),
                            () -> VolumeKeyHeader.streamKeys(config)));
        } catch (IOException | RuntimeException e) {
            Closing.after(e, volume::close);
            throw e;
        }
    }

    private static ServedPaths.Cache cacheOf(KernelMount mount) {
        return new ServedPaths.Cache() {
            @Override
            public void writeBack() throws IOException {
                mount.writeBack();
            }

            @Override
            public void beginWriteBack() throws IOException {
                mount.beginWriteBack();
            }

            @Override
            public void forget(long directory, byte[] name) {
                mount.forget(directory, name);
            }
        };
    }

    @Override
    public Optional<InetSocketAddress> metricsAddress(String options) {
        return ServiceOptions.parse(options).metrics();
    }

    @Override
    public String statusGroup(String options) {
        return ServiceOptions.parse(options).statusGroup();
    }

    /**
     * The mount options that concern neither kernel nor file system.
     *
     * @param metrics where to serve figures to Prometheus
     * @param statusGroup name of the group whose members may read the status; empty: none
     * @param mountOptions all other options
     */
    private record ServiceOptions(
            Verification verification, Optional<InetSocketAddress> metrics, String statusGroup, String mountOptions) {
        private static final String VERIFY = "verify_fingerprints";
        private static final String METRICS = "metrics=";
        private static final String STATUS_GROUP = "status_group=";
        /** Of Debian and others: may read logs. */
        private static final String DEFAULT_GROUP = "adm";

        private static final int PORT_MAX = 65535;

        static ServiceOptions parse(String options) {
            Verification verification = Verification.CHECKSUMS;
            Optional<InetSocketAddress> metrics = Optional.empty();
            String statusGroup = DEFAULT_GROUP;
            List<String> others = new ArrayList<>();
            for (String option : options.split(",")) {
                if (option.equals(VERIFY)) {
                    verification = Verification.FINGERPRINTS;
                } else if (option.startsWith(METRICS)) {
                    metrics = Optional.of(address(option));
                } else if (option.startsWith(STATUS_GROUP)) {
                    statusGroup = option.substring(STATUS_GROUP.length());
                } else {
                    others.add(option);
                }
            }
            return new ServiceOptions(verification, metrics, statusGroup, String.join(",", others));
        }

        /**
         * Returns the address of {@code metrics=PORT}, which only this machine reaches, or {@code metrics=HOST:PORT}.
         */
        private static InetSocketAddress address(String option) {
            String value = option.substring(METRICS.length());
            int colon = value.lastIndexOf(':');
            String host = value.substring(0, Math.max(0, colon)).replaceAll("^\\[(.*)]$", "$1");
            String port = value.substring(colon + 1);
            if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > PORT_MAX || colon == 0) {
                throw new IllegalArgumentException("mount option '" + option
                        + "': an address and a port are needed, such as metrics=127.0.0.1:9141, or a port alone");
            }
            InetAddress loopback = InetAddress.getLoopbackAddress();
            return host.isEmpty()
                    ? new InetSocketAddress(loopback, Integer.parseInt(port))
                    : InetSocketAddress.createUnresolved(host, Integer.parseInt(port));
        }
    }

    private record FuseMountedVolume(
            Volume volume,
            KernelMount mount,
            RequestFailures failures,
            RequestLatencies requests,
            SarSource sar,
            CollectionSource collector,
            Moves moves,
            ScrubSource scrub,
            HealSource heal,
            JoinSource joins,
            DamageSource damage,
            SnapshotSource snapshots,
            MetadataBackups backups,
            TierTools tier,
            FileTools files)
            implements MountedVolume {
        @Override
        public void awaitEnd() throws InterruptedException {
            mount.awaitEnd();
        }

        @Override
        public void unmount() throws IOException {
            mount.unmount();
        }

        @Override
        public void endMount() throws IOException {
            mount.close();
        }

        @Override
        public void sync() throws IOException {
            volume.sync();
        }

        @Override
        public Latencies latencies() {
            return new Latencies(requests.counts(), volume.readLatencies());
        }

        @Override
        public @Nullable String stopped() {
            return volume.stopped();
        }

        @Override
        public @Nullable LeaseStatus lease() {
            LeaseKeeper lease = volume.lease();
            return lease == null ? null : lease.status();
        }

        @Override
        public VolumeCondition condition() throws IOException {
            return volume.condition();
        }

        @Override
        public boolean resume() throws IOException {
            boolean resumed = volume.resume();
            if (resumed) {
                failures.settle();
            }
            return resumed;
        }

        @Override
        public FileExplanation explain(String path, long from, ChunkVisitor visitor) throws IOException {
            if (!volume.hot().isConfigured()) {
                throw new IOException("the volume has no SSD: all of " + path + " is read from the disk");
            }
            HotSettings settings = sar.status().settings();
            var rules = new FileExplainer.Rules(volume.hot()::find, settings);
            return new VolumePaths(volume)
                    .use(path, inode -> volume.maintenance().explain(inode, from, rules, visitor));
        }

        @Override
        public ChunkSearch.Found findChunks(String digits) throws IOException {
            return volume.maintenance().chunks().find(digits);
        }

        @Override
        public SpaceUse space() throws IOException {
            return volume.space();
        }

        @Override
        public @Nullable RemoteStatistics remote() {
            return volume.remote();
        }

        @Override
        public void addDataLocation(Path folder) throws IOException {
            volume.addDataLocation(folder);
        }

        @Override
        public void whenLeft(Evacuation.Forgetting forgetting) throws IOException {
            volume.whenLeft(forgetting);
        }

        @Override
        public void resize(long capacityBytes, int usersPercent) throws IOException {
            volume.resize(capacityBytes, usersPercent);
        }

        @Override
        public VolumeStatistics statistics() throws IOException {
            return volume.statistics();
        }

        @Override
        public void close() throws IOException {
            volume.close();
        }
    }
}
