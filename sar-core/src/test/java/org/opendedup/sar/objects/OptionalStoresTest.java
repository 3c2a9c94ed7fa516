package org.opendedup.sar.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link OptionalStores}, with a jar that is made here. */
class OptionalStoresTest {
    private static final String PROVIDER = """
            package made;
            public class Provider implements org.opendedup.sar.objects.ObjectStoreProvider {
                public String scheme() { return "made"; }
                public org.opendedup.sar.objects.ObjectStore open(java.net.URI address) throws java.io.IOException {
                    if (Thread.currentThread().getContextClassLoader() != Provider.class.getClassLoader()) {
                        throw new IllegalStateException("another context");
                    }
                    return org.opendedup.sar.objects.ObjectStores.open(Needed.folder(address));
                }
            }
            class Needed { static String folder(java.net.URI address) { return address.getPath(); } }
            """;
    private static final String SERVICE = "META-INF/services/" + ObjectStoreProvider.class.getName();

    @TempDir
    Path folder;

    private Path jars;
    private Path classes;
    private URI address;

    @BeforeEach
    void compile() throws IOException {
        jars = Files.createDirectory(folder.resolve("jars"));
        classes = Files.createDirectory(folder.resolve("classes"));
        Path source = Files.writeString(folder.resolve("Provider.java"), PROVIDER);
        int result = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-d",
                        classes.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString());
        assertEquals(0, result, "compiled");
        address = URI.create("made://somewhere" + Files.createDirectory(folder.resolve("store")));
    }

    private void makeJar(String... names) throws IOException {
        try (OutputStream file = Files.newOutputStream(jars.resolve("store.jar"));
                JarOutputStream jar = new JarOutputStream(file)) {
            for (String name : names) {
                jar.putNextEntry(new ZipEntry("made/" + name));
                jar.write(Files.readAllBytes(classes.resolve("made").resolve(name)));
            }
            jar.putNextEntry(new ZipEntry(SERVICE));
            jar.write("made.Provider".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void aStoreIsLoadedByALoaderOfItsOwn() throws IOException {
        makeJar("Provider.class", "Needed.class");
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        ObjectStore store = OptionalStores.open(jars, address, "made").orElseThrow();
        assertSame(before, Thread.currentThread().getContextClassLoader());
        assertInstanceOf(FolderObjectStore.class, store, "classes of the engine are the same for both sides");
        store.put("a", ObjectSource.of(new byte[] {1}));
        assertThrows(ClassNotFoundException.class, () -> Class.forName("made.Provider"), "the program sees it");
        assertTrue(OptionalStores.open(jars, address, "other").isEmpty());
    }

    @Test
    void jarsThatAreReplacedStayAsTheyWere() throws IOException, ReflectiveOperationException {
        makeJar("Provider.class", "Needed.class");
        try (URLClassLoader loader = OptionalStores.loader(jars, "made").orElseThrow()) {
            Files.delete(jars.resolve("store.jar"));
            assertNotSame(
                    OptionalStores.class.getClassLoader(),
                    loader.loadClass("made.Provider").getClassLoader());
        }
    }

    @Test
    void whatIsMissingIsSaid() throws IOException {
        assertEquals(Optional.empty(), OptionalStores.open(jars, address, "made"), "a folder without jars");
        assertEquals(Optional.empty(), OptionalStores.open(jars.resolve("none"), address, "made"));
        makeJar("Provider.class");
        IllegalArgumentException lacks =
                assertThrows(IllegalArgumentException.class, () -> OptionalStores.open(jars, address, "made"));
        assertTrue(
                lacks.getMessage().contains("not complete")
                        && lacks.getMessage().contains("made/Needed"),
                lacks::toString);
        IllegalArgumentException unknown =
                assertThrows(IllegalArgumentException.class, () -> ObjectStores.open("gs://bucket"));
        assertEquals(
                "no store for gs://; there are those for file:// and, by packages of their own, s3:// and hdfs://",
                unknown.getMessage());
    }
}
