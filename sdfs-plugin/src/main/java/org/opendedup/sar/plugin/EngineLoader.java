package org.opendedup.sar.plugin;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import org.jspecify.annotations.Nullable;
import org.w3c.dom.Element;

/**
 * Loads the engine and its libraries from a folder of the plugin's jar, so that they neither see those of SDFS nor are
 * seen by it: two versions of RocksDB and Guava are in the process. Classes cannot be renamed instead, because native
 * libraries find their classes by name. Only the package of {@link PluginEngine} is common to both sides.
 */
final class EngineLoader extends ClassLoader {
    /** Where the engine is in the jar. */
    private static final String FOLDER = "META-INF/sar-engine/";

    private static final String COMMON = "org.opendedup.sar.plugin.";
    private static final String ENGINE_SIDE = COMMON + "engine.";
    private static final String OPENER = ENGINE_SIDE + "ChunkVolumeOpener";

    /** The namespace of RocksDB in names of symbols. */
    static final String ROCKSDB_NAMESPACE = "7rocksdb";

    private static final int BUFFER_BYTES = 64 << 10;

    static {
        registerAsParallelCapable();
    }

    private final ClassLoader host;
    /** The native library of RocksDB, until it is loaded. Guarded by this. */
    private @Nullable Path unpacked;

    /** @param host has loaded this class, and has the jar */
    EngineLoader(ClassLoader host) {
        super("sar-engine", ClassLoader.getPlatformClassLoader());
        this.host = host;
    }

    /** Opens an engine, in a loader of its own; see {@link PluginEngine.Opener}. */
    static PluginEngine open(Element config) throws IOException {
        ClassLoader host = EngineLoader.class.getClassLoader();
        EngineLoader loader = new EngineLoader(host == null ? ClassLoader.getSystemClassLoader() : host);
        try {
            Class<?> opener = loader.loadClass(OPENER);
            return ((PluginEngine.Opener) opener.getDeclaredConstructor().newInstance()).open(config);
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new IOException("the engine of SAR cannot be loaded from the plugin's jar: " + e, e);
        } finally {
            loader.deleteUnpacked();
        }
    }

    /** Deletes the unpacked library, which is loaded by now: a killed process would leave it. */
    private synchronized void deleteUnpacked() throws IOException {
        if (unpacked != null) {
            Files.deleteIfExists(unpacked);
            unpacked = null;
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            if (name.startsWith(COMMON) && !name.startsWith(ENGINE_SIDE)) {
                return host.loadClass(name);
            }
            String file = name.replace('.', '/') + ".class";
            URL found = host.getResource(name.startsWith(ENGINE_SIDE) ? file : FOLDER + file);
            return found == null ? super.loadClass(name, resolve) : define(name, found);
        }
    }

    private Class<?> define(String name, URL file) throws ClassNotFoundException {
        try (InputStream in = file.openStream()) {
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    @Override
    protected @Nullable URL findResource(String name) {
        return host.getResource(FOLDER + name);
    }

    @Override
    protected Enumeration<URL> findResources(String name) throws IOException {
        URL found = findResource(name);
        return found == null ? Collections.emptyEnumeration() : Collections.enumeration(Collections.singleton(found));
    }

    /**
     * Unpacks RocksDB's native library to a file of its own, with symbols of its own; see {@link ElfSymbols}. The
     * library is asked for by this name before any file of the host is looked at.
     */
    @Override
    protected @Nullable String findLibrary(String name) {
        if (!name.startsWith("rocksdbjni")) {
            return null;
        }
        String file =
                "librocksdbjni-linux" + (System.getProperty("os.arch").equals("aarch64") ? "-aarch64" : "64") + ".so";
        try (InputStream in = host.getResourceAsStream(FOLDER + file)) {
            if (in == null) {
                return null;
            }
            byte[] library = in.readAllBytes();
            ElfSymbols.separate(library, ROCKSDB_NAMESPACE);
            Path target = Files.createTempFile("sar-rocksdbjni", ".so");
            target.toFile().deleteOnExit();
            synchronized (this) {
                unpacked = target;
            }
            try (var out = Files.newOutputStream(target)) {
                for (int at = 0; at < library.length; at += BUFFER_BYTES) {
                    out.write(library, at, Math.min(BUFFER_BYTES, library.length - at));
                }
            }
            return target.toString();
        } catch (IOException e) {
            throw new UncheckedIOException("the native library of RocksDB cannot be unpacked", e);
        }
    }
}
