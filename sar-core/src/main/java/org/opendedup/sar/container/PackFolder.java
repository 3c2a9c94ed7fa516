package org.opendedup.sar.container;

import java.io.IOException;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.io.Directory;

/**
 * The packs of a volume that is read without its container table.
 *
 * @param directory the data location
 * @param cipher that of the volume
 */
public record PackFolder(Directory directory, ContainerCipher cipher) {
    /** Returns the numbers of the packs, in ascending order. */
    public long[] packs() throws IOException {
        return PackReader.packs(directory);
    }

    /** @throws java.nio.file.NoSuchFileException if there is no such pack */
    public PackReader open(long pack) throws IOException {
        return PackReader.open(directory, pack, cipher);
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}
