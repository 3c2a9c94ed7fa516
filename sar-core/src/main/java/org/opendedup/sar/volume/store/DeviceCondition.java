package org.opendedup.sar.volume.store;

import java.util.List;

/**
 * The space on a device of a volume at one moment.
 *
 * @param folder a folder on the device
 * @param parts parts of the volume that it holds: containers, metadata, index
 * @param usableBytes bytes that the volume's user can still write there
 * @param totalBytes capacity of the device
 * @param missingBallastBytes bytes of the ballasts there that do not exist now
 * @param state {@value #OK}; or why no new containers are stored there: {@value #MISSING}, or the failure
 */
public record DeviceCondition(
        String folder, List<String> parts, long usableBytes, long totalBytes, long missingBallastBytes, String state) {
    /** Part of the volume on a device with a data location. */
    public static final String CONTAINERS = "containers";

    /** The device does what it is for. */
    public static final String OK = "ok";

    /** Nothing says any more that the folder is a data location: its disk is not mounted, or does not answer. */
    public static final String MISSING = "missing";

    /** The containers there are moved to other locations. */
    public static final String LEAVING = "leaving";

    /** Makes the condition of a device that does what it is for. */
    public DeviceCondition(
            String folder, List<String> parts, long usableBytes, long totalBytes, long missingBallastBytes) {
        this(folder, parts, usableBytes, totalBytes, missingBallastBytes, OK);
    }
}
