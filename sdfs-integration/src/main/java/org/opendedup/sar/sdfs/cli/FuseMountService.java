package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.opendedup.sar.sdfs.fuse.FuseBindings;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.kernel.KernelBinding;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.Verification;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.VolumeConfig;
import org.opendedup.sar.volume.VolumeStatistics;

/** Serves volumes through the kernel's FUSE. */
final class FuseMountService implements MountService {
    /** The mount option that asks for {@link Verification#FINGERPRINTS}. */
    private static final String VERIFY = "verify_fingerprints";

    @Override
    public void checkOptions(String options) {
        MountOptions.of(Path.of("/"), "").with(withoutVerify(options));
    }

    private static String withoutVerify(String options) {
        return Arrays.stream(options.split(","))
                .filter(option -> !option.equals(VERIFY))
                .collect(Collectors.joining(","));
    }

    @Override
    public void remount(Path mountPoint, String options) throws IOException {
        KernelBinding.remount(MountOptions.of(mountPoint, "none").with(withoutVerify(options)));
    }

    @Override
    public MountedVolume mount(VolumeConfig config, Path mountPoint, String options) throws IOException {
        MountOptions chosen = MountOptions.of(mountPoint, config.name()).with(withoutVerify(options));
        boolean verify = Arrays.asList(options.split(",")).contains(VERIFY);
        Volume volume = Volume.open(config, verify ? Verification.FINGERPRINTS : Verification.CHECKSUMS);
        try {
            FuseMount mount = FuseBindings.named(FuseBindings.DEFAULT).mount(new FuseFileSystem(volume), chosen);
            return new FuseMountedVolume(volume, mount);
        } catch (IOException | RuntimeException e) {
            try {
                volume.close();
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private record FuseMountedVolume(Volume volume, FuseMount mount) implements MountedVolume {
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
        public SpaceUse space() throws IOException {
            return volume.space();
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
