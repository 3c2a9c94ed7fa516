package org.opendedup.sar.volume.diff;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.metadata.record.Modes;

/** Changes come in the order of their paths, unless they are too many. */
class ChangesByPathTest {
    private final List<String> passed = new ArrayList<>();
    private final ChangesByPath changes = new ChangesByPath(change -> passed.add(new String(change.path(), US_ASCII)));

    private void add(String path) throws IOException {
        changes.accept(new Change(
                Change.Kind.ADDED, path.getBytes(US_ASCII), null, Modes.REGULAR, 1, false, false, false, false));
    }

    @Test
    void aFolderIsFollowedByWhatIsInIt() throws IOException {
        for (String path : List.of("/b", "/a/x", "/a-b", "/a", "/a/x/y", "/a.c", "/")) {
            add(path);
        }
        assertEquals(List.of(), passed);
        assertTrue(changes.end());
        assertEquals(List.of("/", "/a", "/a/x", "/a/x/y", "/a-b", "/a.c", "/b"), passed);
    }

    @Test
    void tooManyArePassedOnAsTheyCome() throws IOException {
        List<String> paths = new ArrayList<>();
        for (int i = ChangesByPath.MOST; i >= 0; i--) {
            paths.add("/" + i);
            add("/" + i);
        }
        assertEquals(ChangesByPath.MOST + 1, passed.size());
        add("/last");
        paths.add("/last");
        assertFalse(changes.end());
        assertEquals(paths, passed);
    }

    @Test
    void longPathsAreFewer() throws IOException {
        String longPath = "/" + "x".repeat(1 << 20);
        for (int i = 0; i < 9; i++) {
            add(longPath);
        }
        assertEquals(9, passed.size());
        assertFalse(changes.end());
    }
}
