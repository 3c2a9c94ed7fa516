package org.opendedup.sar.turns;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Keeps other test classes away from one that is {@link Alone}. Surefire runs the classes of this module in two
 * processes, so the turns are locks of files in the module's {@code target} folder. JUnit finds this extension by
 * itself, for each class.
 *
 * <p>A class takes the lock of the entrance, then that of the room, and leaves the entrance. One that is alone takes
 * the room exclusively. The entrance keeps those that come later from passing it while it waits.
 */
public final class Turns implements BeforeAllCallback, AfterAllCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(Turns.class);

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        Class<?> test = context.getRequiredTestClass();
        if (test.getEnclosingClass() == null) {
            context.getStore(NAMESPACE).put(Turn.class, Turn.take(folder(), test.isAnnotationPresent(Alone.class)));
        }
    }

    /** The processes have working folders of their own. Surefire tells that of the module. */
    private static Path folder() {
        return Path.of(System.getProperty("basedir", ""), "target/turns");
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        Turn turn = context.getStore(NAMESPACE).remove(Turn.class, Turn.class);
        if (turn != null) {
            turn.end();
        }
    }

    /** A turn of one process. */
    record Turn(FileChannel room) {
        /**
         * Waits for a turn.
         *
         * @param folder where the locks are; all processes that take turns name the same
         * @param alone whether nobody else may have a turn at the same time
         */
        static Turn take(Path folder, boolean alone) throws IOException {
            Files.createDirectories(folder);
            try (FileChannel entrance = open(folder.resolve("entrance"));
                    FileLock first = entrance.lock()) {
                FileChannel room = open(folder.resolve("room"));
                try {
                    room.lock(0, Long.MAX_VALUE, !alone);
                } catch (IOException | RuntimeException e) {
                    room.close();
                    throw e;
                }
                return new Turn(room);
            }
        }

        private static FileChannel open(Path file) throws IOException {
            return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        }

        /** Ends the turn. The end of the process does that as well. */
        void end() throws IOException {
            room.close();
        }
    }
}
