package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class StorageDeviceTest {
    @Test
    void theDisksBelowAFolderAreDisksOfTheKernel() {
        for (String disk : StorageDevice.disksBelow(Path.of("").toAbsolutePath())) {
            assertTrue(Files.isDirectory(Path.of("/sys/block", disk)), disk);
            assertTrue(Files.notExists(Path.of("/sys/block", disk, "loop/backing_file")), disk);
        }
    }

    @Test
    void aFileSystemInMemoryHasNone() {
        assertEquals(List.of(), StorageDevice.disksBelow(Path.of("/proc")));
        assertEquals(List.of(), StorageDevice.disksBelow(Path.of("/no/such/folder")));
    }
}
