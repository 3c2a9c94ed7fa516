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
 */
public record DeviceCondition(
        String folder, List<String> parts, long usableBytes, long totalBytes, long missingBallastBytes) {}
