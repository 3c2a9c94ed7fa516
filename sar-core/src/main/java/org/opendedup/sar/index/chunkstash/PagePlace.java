package org.opendedup.sar.index.chunkstash;

/** Where a page is, to read it without the lock. */
record PagePlace(int page, long container, long place, int length, int count) {
    PagePlace(PageDirectory pages, int page) {
        this(page, pages.container(page), pages.place(page), pages.length(page), pages.count(page));
    }
}
