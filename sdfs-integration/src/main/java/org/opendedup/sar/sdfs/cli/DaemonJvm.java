package org.opendedup.sar.sdfs.cli;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How the daemon's JVM is started; every flag of it stands here.
 *
 * @param memory the share of heap and direct buffers in the volume's budget
 * @param javaFeature release of the JVM, such as 17: later ones want leave for native code
 * @param isRoot whether root runs it, who alone may have threads that go before others
 * @param extraOptions more options, separated by spaces; they come last and overrule
 */
record DaemonJvm(DaemonMemory memory, int javaFeature, boolean isRoot, String extraOptions) {

    /** Serves no user code: half of a thread's usual stack is plenty, and there are dozens of threads. */
    private static final String STACK_SIZE = "-Xss512k";

    /** Of a buffer that the JDK keeps for a thread. */
    private static final int CACHED_BUFFER_BYTES = 8 << 10;

    /** The first release that warns of native libraries without leave. */
    private static final int NATIVE_ACCESS_FEATURE = 22;

    /** The first release that warns of sun.misc.Unsafe, which our libraries use for buffers. */
    private static final int UNSAFE_FEATURE = 24;

    /** Where the native libraries lie unpacked, for RocksDB, zstd and LZ4, and for jnr-ffi. The launchers set them. */
    private static final List<String> NATIVE_LIBRARY_PROPERTIES =
            List.of("java.library.path", "jffi.boot.library.path");

    /** A class data archive of the daemon's classes, which scripts/install makes. The launchers set it. */
    private static final String ARCHIVE_PROPERTY = "sdfs.archive";

    /** The command line up to the main class. */
    List<String> command(RunFiles files, boolean foreground) {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + memory.heapBytes());
        command.add("-XX:MaxDirectMemorySize=" + memory.directBytes());
        // Containers are read and written through buffers of ours, which are counted. Those that the JDK keeps for each
        // thread beside are small ones; larger ones it gives back after use.
        command.add("-Djdk.nio.maxCachedBufferSize=" + CACHED_BUFFER_BYTES);
        command.add(STACK_SIZE);
        // Parallel: of the collectors that use several cores, the one with the least memory of its own.
        command.add("-XX:+UseParallelGC");
        // Most of the heap is caches that live long: three quarters for them, where the default leaves two thirds and
        // the plan's two thirds would just not fit. The rest at once: a young generation that begins small is
        // collected all the time, and the disk waits meanwhile.
        command.add("-Xmn" + memory.heapBytes() / 4);
        // Its classes take 22 MB by the first restore: just more than that at which the default has all of the heap
        // collected.
        command.add("-XX:MetaspaceSize=64m");
        if (isRoot) {
            // Threads with work for the disk go first where processors are short; the compilers not before the rest.
            command.add("-XX:ThreadPriorityPolicy=1");
            command.add("-XX:CompilerThreadPriority=0");
        }
        // A daemon without memory answers nobody. The volume is as safe as after kill -9.
        command.add("-XX:+ExitOnOutOfMemoryError");
        command.add("-XX:ErrorFile=" + files.logFolder().resolve("hs_err_%p.log"));
        command.add("-Dlogback.configurationFile=" + (foreground ? "logback-foreground.xml" : "logback-daemon.xml"));
        command.add("-Dsdfs.log.file=" + files.log());
        NATIVE_LIBRARY_PROPERTIES.stream()
                .filter(name -> System.getProperty(name) != null)
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        addArchive(command);
        if (javaFeature >= NATIVE_ACCESS_FEATURE) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        if (javaFeature >= UNSAFE_FEATURE) {
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        Arrays.stream(extraOptions.split("\\s+"))
                .filter(option -> !option.isEmpty())
                .forEach(command::add);
        command.add("-cp");
        command.add(absoluteClassPath());
        return command;
    }

    /** What the JVM says of an archive that does not fit, since the JDK was changed, is left out: the classes are then loaded as ever. */
    private static void addArchive(List<String> command) {
        String archive = System.getProperty(ARCHIVE_PROPERTY);
        if (archive != null) {
            command.add("-XX:SharedArchiveFile=" + archive);
            command.addAll(List.of("-Xlog:disable", "-Xlog:all=error:stderr"));
        }
    }

    /** The daemon works in the root folder, where a relative class path would lead nowhere. */
    private static String absoluteClassPath() {
        return String.join(
                File.pathSeparator,
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }
}
