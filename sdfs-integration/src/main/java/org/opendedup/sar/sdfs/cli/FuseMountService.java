package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.opendedup.sar.volume.VolumeConfig;

/** Serves volumes through the kernel's FUSE. */
final class FuseMountService implements MountService {
    @Override
    public void checkOptions(String options) {}

    @Override
    public MountedVolume mount(VolumeConfig config, Path mountPoint, String options) throws IOException {
        throw new IOException("this build has no FUSE binding");
    }
}
