package org.opendedup.sar;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * A temporary folder like that of {@link TempDir}, for tests to which the disk below does not matter: an fsync takes
 * most of their time. It is in the folder {@code -Dsar.memory}, which {@code scripts/test} has in memory.
 */
@Target({ElementType.FIELD, ElementType.PARAMETER})
@Retention(RetentionPolicy.RUNTIME)
@TempDir(factory = MemoryFolder.Factory.class)
public @interface MemoryFolder {
    /** Makes the folders. */
    final class Factory implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test) throws IOException {
            return Files.createTempDirectory(
                    Path.of(System.getProperty("sar.memory", System.getProperty("java.io.tmpdir"))), "junit");
        }
    }
}
