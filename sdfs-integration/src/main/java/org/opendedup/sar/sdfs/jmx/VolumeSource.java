package org.opendedup.sar.sdfs.jmx;

import java.io.IOException;
import org.opendedup.sar.volume.SpaceUse;
import org.opendedup.sar.volume.VolumeStatistics;

/** The source of a volume's statistics; {@link org.opendedup.sar.volume.Volume} has both methods. */
public interface VolumeSource {
    VolumeStatistics statistics() throws IOException;

    SpaceUse space() throws IOException;
}
