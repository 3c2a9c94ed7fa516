package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.NoSpaceException;

final class FileDirectoryTest extends DirectoryContract {
    @TempDir
    Path folder;

    @Override
    Directory newDirectory() throws IOException {
        return FileDirectory.open(folder);
    }

    @Test
    void aMissingFolderIsRefused() {
        assertThrows(NoSuchFileException.class, () -> FileDirectory.open(folder.resolve("missing")));
    }

    @Test
    void aFileIsRefusedAsAFolder() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThrows(NotDirectoryException.class, () -> FileDirectory.open(file));
    }

    @Test
    void namesDoNotLeadOutside() throws IOException {
        Directory directory = newDirectory();
        assertThrows(IllegalArgumentException.class, () -> directory.open("../outside"));
        assertThrows(IllegalArgumentException.class, () -> directory.create("/etc/outside"));
    }

    @Test
    void aFullDiskIsReportedAsSuch() throws IOException {
        assumeTrue(Files.isWritable(Path.of("/dev/full")), "needs /dev/full");
        Path device = Path.of("/dev/full");
        try (Output output = new FileDirectory.FileOutput(FileChannel.open(device, StandardOpenOption.WRITE), device)) {
            assertThrows(NoSpaceException.class, () -> output.append(ByteBuffer.wrap(new byte[10])));
        }
    }
}
