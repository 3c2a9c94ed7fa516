package org.opendedup.sar.volume.care;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.metadata.record.DamageNote;
import org.opendedup.sar.metadata.record.DamageNote.How;

class DamageNewsTest {
    private final AtomicBoolean damaged = new AtomicBoolean();
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    private DamageNews news;

    private void open() {
        news = new DamageNews(progress -> DamageNews.NOTHING, damaged::get, DamageNews::files, "test");
        news.listen(new NewDamageListener() {
            @Override
            public void found(DamageFound damage) {
                heard.add(damage.place());
            }

            @Override
            public void gone() {
                heard.add("gone");
            }
        });
    }

    @AfterEach
    void close() {
        news.close();
    }

    private String next() throws InterruptedException {
        return heard.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void damageThatIsHealedBeforeTheFirstLookIsToldToBeGone() throws InterruptedException {
        damaged.set(true);
        open();
        damaged.set(false);
        assertEquals("gone", next());
    }

    @Test
    void damageThatIsFoundAndHealedBetweenTwoLooksIsToldAndToldToBeGone() throws InterruptedException {
        open();
        news.found(7, DamageNote.now(3, How.READ, "wrong checksum"));
        assertEquals("frame 3 of container 7", next());
        assertEquals("gone", next());
        assertNull(heard.poll(), "the control: nothing else is told");
    }
}
