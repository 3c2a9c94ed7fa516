package org.opendedup.sar.sdfs.cli.daemon;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.sdfs.audit.Actor;
import org.opendedup.sar.sdfs.cli.command.RunFiles;

/**
 * The command line of the daemon's JVM; all its flags are set here.
 *
 * @param memory the share of heap and direct buffers in the volume's budget
 * @param javaFeature release of the JVM, such as 17; later ones need permission for native code
 * @param isRoot whether root runs it; only root may raise the priority of threads
 * @param holdsKeys whether its memory has the keys of an encrypted volume
 * @param extraOptions more options, separated by spaces; they are last and override the others
 */
record DaemonJvm(DaemonMemory memory, int javaFeature, boolean isRoot, boolean holdsKeys, String extraOptions) {

    /** Stack of a thread. Half of the usual size is enough without user code, and there are dozens of threads. */
    private static final String STACK_SIZE = "-Xss512k";

    /** Largest buffer that the JDK keeps for a thread, in bytes. */
    private static final int CACHED_BUFFER_BYTES = 8 << 10;

    /** The first release that warns of native libraries without permission. */
    private static final int NATIVE_ACCESS_FEATURE = 22;

    /** The first release that warns of sun.misc.Unsafe, which our libraries use for buffers. */
    private static final int UNSAFE_FEATURE = 24;

    /**
     * Calls and loops after which C2 compiles a method: ten times as many as by default. By default it takes a quarter
     * of the processor time of a first backup (docs/BENCHMARKS.md), mostly for methods that are not hot. Those that are
     * reach it within seconds, whichever they are; a list of methods would have to be kept.
     */
    private static final List<String> C2_LATER = List.of(
            "-XX:Tier4InvocationThreshold=50000",
            "-XX:Tier4MinInvocationThreshold=6000",
            "-XX:Tier4CompileThreshold=150000",
            "-XX:Tier4BackEdgeThreshold=400000");

    /**
     * Has C2 compile the JDK's ciphers after a thousandth of these calls and loops. The processor's instructions for
     * AES are used only where C2 compiled a cipher, which seals some fifty times slower before. A sealing is one call
     * for a frame of 64 KiB, so a first backup would be over by then. A package and no list of methods: what a release
     * of the JDK names otherwise is compiled as usual.
     */
    private static final List<String> CIPHERS_SOON = List.of(
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=CompileThresholdScaling,com.sun.crypto.provider.*::*,0.001");

    /** Folders of the unpacked native libraries: of RocksDB, zstd and LZ4, and of jnr-ffi. The launchers set them. */
    private static final List<String> NATIVE_LIBRARY_PROPERTIES =
            List.of("java.library.path", "jffi.boot.library.path");

    /**
     * Names what the JVM learned in a run of the daemon, which scripts/install makes: a class data archive, or a cache
     * that also has profiles of methods. The launchers set it.
     */
    private static final String ARCHIVE_PROPERTY = "sdfs.archive";

    /** End of the name of a cache (JEP 514). */
    private static final String AOT_CACHE = ".aot";

    /** Returns the command line up to the main class. */
    List<String> command(RunFiles files, boolean foreground) {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + memory.heapBytes());
        command.add("-XX:MaxDirectMemorySize=" + memory.directBytes());
        // Containers are read and written through our own buffers, which are counted. The buffers that the JDK keeps in
        // addition for each thread are small ones; it frees larger ones after use.
        command.add("-Djdk.nio.maxCachedBufferSize=" + CACHED_BUFFER_BYTES);
        command.add(STACK_SIZE);
        // Parallel: of the collectors that use several cores, the one that needs the least memory itself.
        command.add("-XX:+UseParallelGC");
        // Most of the heap is caches that live long. They get three quarters: the default of two thirds would be just
        // too small, because the plan gives them two thirds. The young generation gets its full size at once: if it
        // began small, it would be collected all the time while the disk waits.
        command.add("-Xmn" + memory.heapBytes() / 4);
        // The classes use 22 MB by the first restore, just above the default threshold, which triggers a collection of
        // the whole heap.
        command.add("-XX:MetaspaceSize=64m");
        command.addAll(C2_LATER);
        if (isRoot) {
            // Threads with work for the disk get a higher priority when processors are short; compilers get none.
            command.add("-XX:ThreadPriorityPolicy=1");
            command.add("-XX:CompilerThreadPriority=0");
        }
        // Without it the JVM changes a file in /tmp 20 times a second, so that the disk below never rests.
        command.add("-XX:-UsePerfData");
        // A JMX port that an administrator opens tells its clients this address. It is right behind a tunnel. Without
        // it the JVM tells the address of the machine's name. Extra options may say another.
        command.add("-Djava.rmi.server.hostname=127.0.0.1");
        // A daemon without memory cannot answer. The volume is as safe as after kill -9.
        command.add("-XX:+ExitOnOutOfMemoryError");
        if (holdsKeys) {
            command.addAll(CIPHERS_SOON);
            command.add("-XX:-CreateCoredumpOnCrash");
        }
        // From release 22 on, zstd-jni has other classes that look its functions up by name in all native libraries.
        // RocksDB exports functions of the same names, of its own zstd, and these may be found instead.
        command.add("-Djdk.util.jar.enableMultiRelease=false");
        command.add("-XX:ErrorFile=" + files.logFolder().resolve("hs_err_%p.log"));
        command.add("-Dlogback.configurationFile=" + (foreground ? "logback-foreground.xml" : "logback-daemon.xml"));
        command.add("-Dsdfs.log.file=" + files.log());
        command.add("-D" + Actor.STARTER + "=" + ProcessHandle.current().pid());
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

    /**
     * Adds the archive. An archive that does not fit, because the JDK was changed, is not reported: the classes are
     * then loaded as usual.
     */
    private void addArchive(List<String> command) {
        String archive = System.getProperty(ARCHIVE_PROPERTY);
        if (archive == null) {
            return;
        }
        boolean isCache = archive.endsWith(AOT_CACHE);
        command.add((isCache ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + archive);
        // Of these tags only: JVMs without caches refuse the name of theirs.
        String silent = isCache ? "aot*=off,cds*=off" : "cds*=off";
        command.addAll(List.of("-Xlog:disable", "-Xlog:all=error," + silent + ":stderr"));
    }

    /** Returns an absolute class path. The daemon runs in the root folder, where a relative path would be wrong. */
    private static String absoluteClassPath() {
        return String.join(
                File.pathSeparator,
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }
}
