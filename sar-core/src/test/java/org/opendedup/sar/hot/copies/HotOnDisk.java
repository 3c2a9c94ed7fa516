package org.opendedup.sar.hot.copies;

import java.util.function.UnaryOperator;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.ssd.StoreDouble;

/**
 * Opens tiers whose segment files lie on a disk of the test's own.
 *
 * @param disk makes that disk from the folder of the SSD
 */
public record HotOnDisk(UnaryOperator<Directory> disk) implements HotDouble {
    @Override
    public OpenerDouble ssds() {
        return new OpenerDouble(StoreDouble.onDisk(disk));
    }
}
